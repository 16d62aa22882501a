/** The parts of the world that a client needs. A test hands in its own. */
export interface World {
  fetch: (url: string, init: RequestInit) => Promise<Response>
  /** Rejects when the signal fires first. */
  sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void>
  randomBytes(length: number): Uint8Array
}

/** The world as it is, in Node and in browsers. */
export const realWorld: World = {
  fetch: (url, init) => globalThis.fetch(url, init),
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  sleep: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      const onAbort = () => {
        clearTimeout(timer)
        reject(signal!.reason)
      }
      if (signal?.aborted) return reject(signal.reason)
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }, milliseconds)
      signal?.addEventListener('abort', onAbort, { once: true })
    }),
}
