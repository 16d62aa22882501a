import type { FastifyInstance } from 'fastify'
import type { Services } from '../platform/services.ts'
import { E2B_PATH } from '../transport/preview-address.ts'
import type { Readiness } from './readiness.ts'

/** The routes that are no operation: health, and the demo's faucet. Others have files of their own. */
export function registerOtherRoutes(
  app: FastifyInstance,
  { demo, config }: Services,
  { readiness }: { readiness: Readiness },
): void {
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const ready = (await readiness()).every((part) => part.ready)
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not ready' })
  })

  app.get('/', async (_request, reply) => reply.redirect('/docs'))

  if (demo) app.get('/demo', async () => ({ ...demo, e2b_url: `${config.publicUrl}${E2B_PATH}` }))
}
