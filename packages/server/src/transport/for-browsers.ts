import cors from '@fastify/cors'
import type { FastifyInstance, FastifyReply } from 'fastify'

/** Headers of answers that scripts of other origins may read, beside those that every browser shows. */
export const EXPOSED_HEADERS = [
  'Allow',
  'Content-Disposition',
  'Content-Range',
  'ETag',
  'Idempotent-Replayed',
  'Link',
  'Location',
  'Payment-Receipt',
  'Payment-Required',
  'Payment-Response',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'X-Balance-Runs-Out-At',
  'X-Payment-Response',
  'X-Request-Id',
  'X-Token-Expires-At',
]

const DAY_S = 86_400

/**
 * Lets pages of any origin use the routes of this scope (https://fetch.spec.whatwg.org/#http-cors-protocol): they take a
 * token that the page itself has to have, and no cookie, so that a page can do nothing that its own server could not.
 */
export async function allowBrowsers(scope: FastifyInstance): Promise<void> {
  await scope.register(cors, {
    origin: '*',
    credentials: false,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: [
      'Accept',
      'Authorization',
      'Cache-Control',
      'Content-Type',
      'Idempotency-Key',
      'If-None-Match',
      'Last-Event-ID',
      'Payment-Signature',
      'Range',
      'X-Payment',
    ],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: DAY_S,
    strictPreflight: false,
  })
}

/** The headers that the hooks of a route have set, for an answer that is written by hand. */
export const headersSoFar = (reply: FastifyReply) => reply.getHeaders() as Record<string, string>
