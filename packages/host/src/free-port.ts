import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Below the kernel's range for outgoing connections, so that none of those takes the port in between. */
const LOWEST = 20_000
const HIGHEST = 32_767
const TRIES = 200

/**
 * A free TCP port between `from` and `to`, both inclusive, at `host` at this moment. Picked at random, so that callers
 * at the same moment rarely meet; a caller that binds it must still be ready to lose it.
 */
export async function freePort({ from = LOWEST, to = HIGHEST, host = '127.0.0.1' } = {}): Promise<number> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const port = randomInt(from, to + 1)
    if (await isFreePort(port, host)) return port
  }
  throw new Error(`No free port found between ${from} and ${to} on ${host} in ${TRIES} tries`)
}

/** Whether this port is free, on any address that `host` stands for. */
export function isFreePort(port: number, host: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = createServer()
  server.once('error', () => resolve(false))
  server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)))
  return promise
}
