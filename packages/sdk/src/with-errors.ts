import type { ErrorBody } from '@coinrack/contract/wire.ts'
import { CoinrackError } from './errors.ts'
import type { Send } from './exchange.ts'
import { retryAfter } from './retry-after.ts'

/**
 * Lets only successes through.
 * @throws CoinrackError
 */
export function withErrors(send: Send): Send {
  return async (ask) => {
    const reply = await send(ask)
    const { status, body } = reply
    if (status === 200 && body !== undefined) return reply
    throw new CoinrackError(status, isObject(body) ? (body as Partial<ErrorBody>) : {}, retryAfter(reply))
  }
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null
