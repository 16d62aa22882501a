import type { Services } from '../platform/services.ts'
import type { Installed, Operator } from './command.ts'

const missing = () => Promise.reject(new Error('Not here'))

/** For commands that need nothing but rows. */
const nothingInstalled: Installed = {
  profile: 'demo',
  dataFolder: '/nonexistent',
  prepare: missing,
  shared: missing,
  chains: missing,
  secrets: missing,
  keepSecrets: missing,
  bareDatabase: missing,
}

/** An operator of a service under test. What it is not given fails when a command asks for it. */
export const testOperator = (
  { db, clock, random, newId }: Services,
  { installed, ...given }: Partial<Omit<Operator, 'installed'>> & { installed?: Partial<Installed> } = {},
): Operator => ({
  db: async () => db,
  catalog: missing,
  images: missing,
  hostsAddresses: [],
  installed: { ...nothingInstalled, ...installed },
  say: () => {},
  clock,
  random,
  newId,
  ...given,
})
