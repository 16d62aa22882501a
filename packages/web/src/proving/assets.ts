import { readAsset } from '../shell/assets.ts'

export const provingScript = readAsset(import.meta.url, 'prove', 'js')
