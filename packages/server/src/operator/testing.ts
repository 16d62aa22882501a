import type { Installed } from './command.ts'

const missing = () => Promise.reject(new Error('Not here'))

/** For commands that need nothing but rows. */
export const nothingInstalled: Installed = {
  profile: 'demo',
  secrets: missing,
  keepSecrets: missing,
  bareDatabase: missing,
}
