import type { Send } from './exchange.ts'
import type { World } from './world.ts'

const KEY_BYTES = 16

const toHex = (byte: number) => byte.toString(16).padStart(2, '0')

/** Gives each write a key of its own, unless the caller chose one: sent again, it still runs once. */
export function withIdempotencyKey({ randomBytes }: World, send: Send): Send {
  return (ask) => {
    const { method, access } = ask.operation
    // Keys belong to an account, so that public calls have none.
    if (method === 'GET' || access === 'public' || 'idempotency-key' in ask.headers) return send(ask)
    const key = Array.from(randomBytes(KEY_BYTES), toHex).join('')
    return send({ ...ask, headers: { ...ask.headers, 'idempotency-key': key } })
  }
}
