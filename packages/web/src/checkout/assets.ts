import { readAsset } from '../shell/assets.ts'

export const style = readAsset(import.meta.url, 'checkout', 'css')
export const script = readAsset(import.meta.url, 'checkout', 'js')
export const wallet = readAsset(import.meta.url, 'wallet', 'js')
