import compress from '@fastify/compress'
import etag from '@fastify/etag'
import type { FastifyInstance } from 'fastify'

/** Below it a compressed answer is hardly smaller. */
const WORTH_COMPRESSING_BYTES = 1024

/** Marks answers that must not be stored, since they hold a secret or are no cacheable answer. */
export const NO_STORE = 'no-store'

/**
 * Makes repeated reads of this scope cheap: an `ETag`, 304 for a client that has the same already (RFC 9110, 8.8.3),
 * and compression. For reads alone (docs/decisions/0164-cheap-reads-for-browsers.md). Before the routes.
 */
export async function answerUnchanged(scope: FastifyInstance): Promise<void> {
  // Weak, as a compressed answer has the same one.
  await scope.register(etag, { algorithm: 'sha256', weak: true })
  scope.addHook('onSend', async (_request, reply) => {
    if (reply.statusCode >= 400 || reply.getHeader('cache-control') === NO_STORE) reply.removeHeader('etag')
  })
  await scope.register(compress, {
    encodings: ['br', 'gzip'],
    threshold: WORTH_COMPRESSING_BYTES,
    globalDecompression: false,
  })
}
