import { sha256 } from '../platform/sealer.ts'

/** Forgotten, all at once, beyond this many: what is forgotten is looked up as an unknown one is. */
const MOST = 50_000

/** The tokens that were good when they were looked up last, so that unknown tokens wait only for each other. */
export interface KnownTokens {
  /**
   * Looks a token up. While an unknown one is looked up, other requests with it wait, and then find it known.
   * @param look answers undefined when the token is not good
   */
  lookUp<T>(token: string, look: (isKnown: boolean) => Promise<T | undefined>): Promise<T | undefined>
}

export function createKnownTokens(): KnownTokens {
  const hashes = new Set<string>()
  const underWay = new Map<string, Promise<void>>()
  const hashOf = (token: string) => sha256(token).toString('base64')

  function note(hash: string, isGood: boolean): void {
    if (!isGood) return void hashes.delete(hash)
    if (hashes.size >= MOST) hashes.clear()
    hashes.add(hash)
  }

  return {
    async lookUp(token, look) {
      const hash = hashOf(token)
      const first = underWay.get(hash)
      if (first) await first
      const isKnown = hashes.has(hash)
      const looking = look(isKnown).then((found) => {
        note(hash, found !== undefined)
        return found
      })
      if (isKnown) return looking
      const done = looking.then(
        () => {},
        () => {},
      )
      underWay.set(hash, done)
      return looking.finally(() => {
        if (underWay.get(hash) === done) underWay.delete(hash)
      })
    },
  }
}
