import { ConnectionError } from './errors.ts'
import { isRepeatable, type Reply, type Send } from './exchange.ts'
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
export function withRetry(options: RetryOptions, world: World, send: Send): Send {
  const repeat = createRepeat(options, world)
  return (ask) => repeat(() => send(ask), { isRepeatable: isRepeatable(ask), signal: ask.signal })
}

/** One call: whether it can be made twice and has the effect of one, and what ends it. */
interface Repeated {
  isRepeatable: boolean
  signal: AbortSignal | undefined
}

/** @returns what makes one call as often as it may go well, and answers what the last time brought */
export function createRepeat(
  { attempts = 5, longestWait = 60 }: RetryOptions,
  { sleep, randomBytes }: World,
) {
  /** Twice as long each time, less up to half of it by chance, so that many clients do not come back at once. */
  const backoff = (attempt: number) => FIRST_PAUSE_S * 2 ** (attempt - 1) * (1 - randomBytes(1)[0]! / 512)

  return async <R extends Reply>(once: () => Promise<R>, call: Repeated): Promise<R> => {
    for (let attempt = 1; ; attempt++) {
      const result = await outcome(once)
      const seconds = result.reply && retryAfter(result.reply)
      const wait = seconds ?? Math.min(backoff(attempt), longestWait)
      if (attempt >= attempts || wait > longestWait || !mayGoWell(call, result.reply)) {
        if (result.reply) return result.reply
        throw result.error
      }
      await sleep(wait * 1000, call.signal)
    }
  }
}

type Outcome<R extends Reply> =
  | { reply: R; error?: undefined }
  | { reply?: undefined; error: ConnectionError }

async function outcome<R extends Reply>(once: () => Promise<R>): Promise<Outcome<R>> {
  try {
    return { reply: await once() }
  } catch (error) {
    if (error instanceof ConnectionError) return { error }
    throw error
  }
}

function mayGoWell({ isRepeatable }: Repeated, reply: Reply | undefined): boolean {
  switch (reply?.status) {
    case undefined:
    case 502:
    case 504:
      return isRepeatable
    case 429:
    case 503:
      return true
    case 409:
      return (reply.body as { code?: string } | undefined)?.code === 'idempotency_running'
  }
  return false
}
