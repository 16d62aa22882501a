import type { OperationName, Operations } from '@coinrack/contract/index.ts'
import type {
  DeclaredError,
  Input,
  Output,
  Resource,
  Scope,
  TokenKind,
} from '@coinrack/contract/operation.ts'
import type { Queryable, Transaction } from '../database/transaction.ts'
import type { AskedCall } from '../platform/approval-needed.ts'
import type { ErrorOptions } from '../platform/errors.ts'
import type { Services } from '../platform/services.ts'
import type { Dispatch } from './dispatch.ts'
import type { ResourceRows } from './resources.ts'

/** The caller, who presented a good token. */
export interface Caller {
  accountId: string
  tokenId: string
  kind: TokenKind
  /** The token and all above it, the highest first: more than one for a child token. */
  lineage: string[]
  scopes: Scope[]
  /** When a password, a code or a registration was last proven for this token. */
  authenticatedAt: Date
  /** When a code from the mailbox, or the account's wallet, opened the session of this token; undefined for other ways in. */
  provenAt: Date | undefined
  expiresAt: Date
  suspended: boolean
  /** While the balance of the account is low. */
  balanceRunsOutAt: Date | undefined
}

/**
 * Reads until it shows what is waited for, or so many seconds are over: a long poll; see `readUntil`. What the caller may
 * do is checked again after it.
 * @throws OperationError `unauthorized` and the like, when it no longer may
 */
export type UntilReached = <T>(
  topic: string,
  seconds: number,
  read: () => Promise<T>,
  reached: (value: T) => boolean,
) => Promise<T>

/** Takes what comes of the work while it goes on. */
export interface OutputStream {
  /** Resolves when it may have more, and to false when the receiver takes no more. */
  emit(event: string, data: Record<string, unknown>): Promise<boolean>
  /** Aborted when the receiver has hung up. */
  gone: AbortSignal
}

type Public<N extends OperationName> = Operations[N] extends { access: 'public' } | { openAsTool: true }
  ? true
  : false

export interface Call<N extends OperationName> {
  input: Input<Operations[N]>
  /** Undefined only where the operation is open to everybody. */
  caller: Public<N> extends true ? Caller | undefined : Caller
  /** The call itself, for a charge that a person may have to approve. */
  asked: AskedCall
  /** The address that the call comes from, as limits count it: an IPv6 /64 is one. */
  client: string
  /** The resource as it was read together with the token, as JSON. The caller owns it. */
  resource: Operations[N] extends { resource: infer R extends Resource } ? ResourceRows[R] : undefined
  /**
   * For a write, one transaction, which is committed when the handler returns; only statements run inside it, and slow
   * work is done before it (see `preparedHandler`) or after it. For a read, or an operation on a machine, the pool.
   */
  db: Operations[N] extends { method: 'GET' } | { onMachine: true } ? Queryable : Transaction
  services: Services
  until: UntilReached
  /** Called as a tool: the answer is for a model. */
  asTool: boolean
  /** Undefined where the answer alone is wanted. */
  stream: OutputStream | undefined
  /** Asks for another operation, as any transport does. */
  dispatch: Dispatch
  /**
   * Aborted when no caller waits for the answer any longer: what can be stopped without a trace should be. One that has
   * hung up and sent an idempotency key may come back for the answer, so that does not abort it.
   */
  gone: AbortSignal
  /** Whether work that may take long is to go on in the background, and the answer to name its task. */
  asTask: boolean
  /**
   * For a write: the answer is what `wait` gives, once the transaction is committed. When it throws, the write is not
   * remembered under its idempotency key.
   */
  afterCommit(wait: () => Promise<Output<Operations[N]>>): void
  /** Refuses, with a code that the operation declares. */
  fail(code: DeclaredError<Operations[N]>, message: string, options?: ErrorOptions): never
}

/** The parts of a call that exist before its transaction begins. `db` is the pool. */
export type CallToPrepare<N extends OperationName> = Pick<
  Call<N>,
  'input' | 'caller' | 'resource' | 'services' | 'fail'
> & { db: Queryable }

export interface Handler<N extends OperationName> {
  /** @param prepared what `prepare` answered */
  (call: Call<N>, prepared?: unknown): Promise<Output<Operations[N]>>
  prepare?(call: CallToPrepare<N>): Promise<unknown>
}

/**
 * The handler of a write that needs something slow, such as a key derivation: that is done before the transaction, once,
 * however often the transaction is repeated, and changes nothing. What it rests on may have changed when the transaction
 * begins, so `write` looks again.
 */
export function preparedHandler<N extends OperationName, P>(
  prepare: (call: CallToPrepare<N>) => Promise<P>,
  write: (call: Call<N>, prepared: P) => Promise<Output<Operations[N]>>,
): Handler<N> {
  return Object.assign((call: Call<N>, prepared?: unknown) => write(call, prepared as P), { prepare })
}

type PaidName = {
  [N in OperationName]: Operations[N] extends { x402: true | 'always' } ? N : never
}[OperationName]
type AlwaysPaidName = {
  [N in OperationName]: Operations[N] extends { x402: 'always' } ? N : never
}[OperationName]

/**
 * Answers a call that is paid in the same request, by x402. It runs in no transaction: settling takes seconds.
 * `payment` is the payment as it was presented, unread; undefined when there is none yet. `key` is the Idempotency-Key,
 * and `keyHash` is the same for calls of one token, or without any, that came with the same key. `digest` is the same
 * for calls that ask for the same. `isGone` says whether the caller has hung up meanwhile. For a caller without a
 * token, `services` has the share of strangers; `paidServices` is for one who has paid.
 */
export type PaidHandler<N extends PaidName> = (
  call: Omit<Call<N>, 'db'> & {
    db: Queryable
    payment: unknown
    key: string | undefined
    keyHash: Buffer | undefined
    digest: Buffer
    isGone(): boolean
    paidServices: Services
  },
) => Promise<Output<Operations[N]>>

/** Exhaustive, like `Handlers`. */
export type PaidHandlers = { [N in PaidName]: PaidHandler<N> }

/** Exhaustive: an operation without a handler does not compile. */
export type Handlers = { [N in Exclude<OperationName, AlwaysPaidName>]: Handler<N> }
