import Fastify, { type FastifyInstance } from 'fastify'
import type { Metrics } from './metrics.ts'
import type { Readiness } from './readiness.ts'

/** A server for the operator alone, on a port of its own on loopback: metrics, and readiness part by part. */
export function createOperatorServer(readiness: Readiness, metrics: Metrics): FastifyInstance {
  const app = Fastify()
  app.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()))
  app.get('/readyz', async (_request, reply) => {
    const parts = await readiness()
    return reply.code(parts.every((part) => part.ready) ? 200 : 503).send({ parts })
  })
  return app
}
