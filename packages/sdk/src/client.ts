import { type OperationName, type Operations, operationList } from '@coinrack/contract/index.ts'
import type { Operation, Output } from '@coinrack/contract/operation.ts'
import { z } from 'zod'
import { CoinrackError } from './errors.ts'
import type { Reply, Send } from './exchange.ts'
import { allItems, nextCursor } from './pages.ts'
import { sendByFetch } from './send-by-fetch.ts'
import { withErrors } from './with-errors.ts'
import { withIdempotencyKey } from './with-idempotency-key.ts'
import { type RetryOptions, withRetry } from './with-retry.ts'
import { withToken } from './with-token.ts'
import { realWorld, type World } from './world.ts'

export interface ClientOptions extends Partial<World> {
  /** Origin of the service, such as `https://vps.example.net`. */
  url: string
  /** From `registerAccount` or `login`. Without one, only public operations answer. */
  token?: string
  retry?: RetryOptions
}

export interface CallOptions {
  /** The key of a write. Kept by the caller, it lets the same write be made again after a crash. */
  idempotencyKey?: string
  /** Ends the call, its repetitions and its waiting. */
  signal?: AbortSignal
}

/** Arguments of a method; an input of which nothing is required can be left out. */
type Arguments<O extends Operation> =
  Record<never, never> extends z.input<O['input']>
    ? [input?: z.input<O['input']>, options?: CallOptions]
    : [input: z.input<O['input']>, options?: CallOptions]

/** One operation as a method. A list has `all` beside it, which goes through every page. */
export type Method<O extends Operation> = ((...args: Arguments<O>) => Promise<Output<O>>) &
  (O['list'] extends true
    ? { all(...args: Arguments<O>): AsyncGenerator<z.output<O['output']>, void> }
    : unknown)

export type Client = { [N in OperationName]: Method<Operations[N]> }

/**
 * A client of a Coinrack service: one method for each operation. Money is `bigint` micro-dollars and times are `Date`
 * in what comes back; what is sent is as the documentation shows it, so `amount: 10` is ten dollars.
 * Methods throw `CoinrackError` for a refusal and `ConnectionError` when no answer came.
 */
export function createClient({ url, token, retry = {}, ...given }: ClientOptions): Client {
  const world = { ...realWorld, ...given }
  const byFetch = sendByFetch(new URL(url).origin, world)
  const send = withToken(token, withIdempotencyKey(world, withErrors(withRetry(retry, world, byFetch))))
  // Types tie each method to its own operation; here it is any of them.
  return Object.fromEntries(
    operationList.map(([name, op]) => [name, methodOf(op, send)]),
  ) as unknown as Client
}

function methodOf(operation: Operation, send: Send) {
  const call = async (input: Record<string, unknown> = {}, options: CallOptions = {}) => {
    const headers: Record<string, string> = { accept: 'application/json' }
    if (options.idempotencyKey !== undefined) headers['idempotency-key'] = options.idempotencyKey
    return decode(operation, await send({ operation, input, headers, signal: options.signal }))
  }
  if (!operation.list) return call
  const all = (input: Record<string, unknown> = {}, options: CallOptions = {}) =>
    allItems((cursor) => call({ ...input, ...(cursor === undefined ? {} : { cursor }) }, options) as never)
  return Object.assign(call, { all })
}

/** @throws CoinrackError when the answer is not what the contract says, as that of another service would be */
function decode(operation: Operation, reply: Reply): unknown {
  const shape = operation.list ? z.array(operation.output) : operation.output
  const result = shape.safeDecode(reply.body as never)
  if (!result.success) throw new CoinrackError(reply.status, {})
  if (!operation.list) return result.data
  const cursor = nextCursor(reply)
  return { items: result.data, ...(cursor === undefined ? {} : { nextCursor: cursor }) }
}
