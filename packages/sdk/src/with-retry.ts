import { ConnectionError } from './errors.ts'
import { type Ask, isRepeatable, type Reply, type Send } from './exchange.ts'
import { retryAfter } from './retry-after.ts'
import type { World } from './world.ts'

export interface RetryOptions {
  /** How often a call is made at most, the first time included. Default 5; 1 never repeats. */
  attempts?: number
  /** Seconds that are waited at most before a repetition. Told to wait longer, the call fails. Default 60. */
  longestWait?: number
}

const FIRST_PAUSE_S = 0.25

/**
 * Repeats what may go well next time: 429 and 503, which did nothing; a write that is still running under its own
 * idempotency key; and, for calls that can be made twice, broken connections and gateways without an answer.
 */
export function withRetry(
  { attempts = 5, longestWait = 60 }: RetryOptions,
  { sleep, randomBytes }: World,
  send: Send,
): Send {
  /** Twice as long each time, less up to half of it by chance, so that many clients do not come back at once. */
  const backoff = (attempt: number) => FIRST_PAUSE_S * 2 ** (attempt - 1) * (1 - randomBytes(1)[0]! / 512)

  return async (ask) => {
    for (let attempt = 1; ; attempt++) {
      const result = await outcome(send, ask)
      const seconds = result.reply && retryAfter(result.reply)
      const wait = seconds ?? Math.min(backoff(attempt), longestWait)
      if (attempt >= attempts || wait > longestWait || !mayGoWell(ask, result.reply)) {
        if (result.reply) return result.reply
        throw result.error
      }
      await sleep(wait * 1000, ask.signal)
    }
  }
}

type Outcome = { reply: Reply } | { reply?: undefined; error: ConnectionError }

async function outcome(send: Send, ask: Ask): Promise<Outcome> {
  try {
    return { reply: await send(ask) }
  } catch (error) {
    if (error instanceof ConnectionError) return { error }
    throw error
  }
}

function mayGoWell(ask: Ask, reply: Reply | undefined): boolean {
  switch (reply?.status) {
    case undefined:
    case 502:
    case 504:
      return isRepeatable(ask)
    case 429:
    case 503:
      return true
    case 409:
      return (reply.body as { code?: string } | undefined)?.code === 'idempotency_running'
  }
  return false
}
