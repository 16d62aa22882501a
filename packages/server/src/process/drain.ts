import { Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Readiness } from './readiness.ts'

/** How long a connection that was taken at the last moment has for its request. */
const LAST_REQUESTS_MS = 500

/** How a service ends behind a load balancer: it says that it is not ready, and goes on until that was seen. */
export interface Drain {
  /** The readiness of the service; not ready once it ends. */
  readiness: Readiness
  /** Lets every answer of the app close its connection while the service ends, so that none is in use when it goes. */
  closeConnections(app: FastifyInstance): void
  /** Begins to end. @returns when no more connections are taken, and those that were had time for their requests */
  begin(app: FastifyInstance): Promise<void>
  /** Waits for the requests that were under way then. */
  ended(): Promise<void>
}

export function createDrain(readiness: Readiness, seconds: number): Drain {
  let isEnding = false
  let ended = Promise.resolve()
  return {
    readiness: async () =>
      isEnding ? [{ name: 'service', ready: false, detail: 'it is ending' }] : readiness(),
    closeConnections(app) {
      app.addHook('onSend', async (_request, reply) => {
        // A connection from which a body is still read says otherwise; see `lingerAfterAnswers`.
        if (isEnding && !reply.hasHeader('connection')) reply.header('connection', 'close')
      })
    },
    async begin({ server }) {
      isEnding = true
      if (seconds === 0) return
      await sleep(seconds * 1000)
      // That of HTTP would close connections on which a request is just coming.
      ended = new Promise((resolve) => Server.prototype.close.call(server, () => resolve()))
      await sleep(LAST_REQUESTS_MS)
    },
    ended: () => ended,
  }
}
