import type { Asset } from '@coinrack/web/shell/assets.ts'
import type { FastifyInstance } from 'fastify'

const FOR_EVER = 'public, max-age=31536000, immutable'

/** Serves files that pages need; each under a name that changes with its content. */
export function serveAssets(app: FastifyInstance, ...assets: Asset[]): void {
  for (const { path, type, body } of assets)
    app.get(path, (_request, reply) => reply.header('cache-control', FOR_EVER).type(type).send(body))
}
