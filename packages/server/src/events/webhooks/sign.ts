import { createHmac } from 'node:crypto'
import type { Random } from '../../platform/services.ts'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** A secret as Standard Webhooks writes it. */
export const makeSecret = (random: Random) =>
  PREFIX + Buffer.from(random.bytes(SECRET_BYTES)).toString('base64')

/** The headers by which a receiver knows who sent the body, and when (Standard Webhooks 1.0, symmetric). */
export function signedHeaders(secret: string, id: string, at: Date, body: string): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1000)
  const signature = createHmac('sha256', Buffer.from(secret.slice(PREFIX.length), 'base64'))
    .update(`${id}.${timestamp}.${body}`)
    .digest('base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  }
}
