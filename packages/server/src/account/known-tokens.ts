import { sha256 } from '../sealer.ts'

/** Forgotten, all at once, beyond this many: what is forgotten is looked up as an unknown one is. */
const MOST = 50_000

/** Which tokens were good when they were looked up last, so that those that nobody has wait for each other alone. */
export interface KnownTokens {
  has(token: string): boolean
  /** @param good what the look-up said */
  keep(token: string, good: boolean): void
}

export function createKnownTokens(): KnownTokens {
  const hashes = new Set<string>()
  const hashOf = (token: string) => sha256(token).toString('base64')
  return {
    has: (token) => hashes.has(hashOf(token)),
    keep(token, good) {
      if (!good) return void hashes.delete(hashOf(token))
      if (hashes.size >= MOST) hashes.clear()
      hashes.add(hashOf(token))
    },
  }
}
