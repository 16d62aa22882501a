import type { ErrorCode } from '@coinrack/contract/errors.ts'
import { type OperationName, operations } from '@coinrack/contract/index.ts'
import { type Operation, resourceInput } from '@coinrack/contract/operation.ts'
import type pg from 'pg'
import { type Authenticated, authenticate } from '../account/authenticate.ts'
import { createKnownTokens } from '../account/known-tokens.ts'
import { readUntil } from '../database/changes.ts'
import { ApprovalNeeded } from '../platform/approval-needed.ts'
import { type ErrorOptions, OperationError } from '../platform/errors.ts'
import type { Services } from '../platform/services.ts'
import { addressBlock } from './address-block.ts'
import { askedCall } from './asked-call.ts'
import { checkAudience, checkKind, checkRights } from './check-rights.ts'
import { encodeOutput, withoutBilling } from './encode-output.ts'
import { failureAnswer } from './failure-answer.ts'
import type { Caller, Handlers, OutputStream, PaidHandlers, UntilReached } from './handler.ts'
import { hashInput, hashKey, type Idempotency } from './idempotency.ts'
import { earlierAnswer, findLeftOut } from './left-out.ts'
import { otherDoor } from './other-door.ts'
import { isPlainRefusal } from './plain-refusal.ts'
import type { RateLimiter, Taken } from './rate-limiter.ts'
import { compileInput, readKey } from './read-input.ts'
import { listOf, resourceRow } from './resources.ts'
import { createRuns, replayed, type Work } from './run-write.ts'

/** One request, as any transport hands it in. */
export interface Request {
  /** The token as it was presented, unchecked. */
  token: string | undefined
  /** The address of the client, for limits by address. */
  address: string
  /** Unread: by REST a text, as a tool anything. */
  idempotencyKey: unknown
  /** The id of the operation's resource, unchecked. */
  resourceId: unknown
  /** Reads the input: called after authentication, so that a stranger learns nothing from it. */
  input(): Record<string, unknown>
  requestId: string
  asTool: boolean
  /** It came to the address that grants are for, and that takes no other token. */
  forGrants?: boolean
  /** By x402: base64 by REST, an object as a tool; unread. */
  payment?: unknown
  /** Aborted when the caller has hung up, where the transport knows that. */
  hungUp?: AbortSignal
  /** Aborted when the caller has taken the call back, which it will not repeat. */
  cancelled?: AbortSignal
  /** Work that may take long goes on in the background, and the answer names its task. */
  asTask?: boolean
  /** Where the transport streams. */
  stream?: OutputStream
}

/** The share of the service for callers without a good token: of its connections. */
export interface Strangers {
  db: pg.Pool
  /** Where it is looked up whether something presented is good: statements without locks, so that none takes long. */
  lookups: pg.Pool
  limiter: RateLimiter
}

/** How far a request has come: it holds also for one that is refused. */
interface Begun {
  /** Once the token is known to be good. */
  caller: Caller | undefined
  /** Headers of the answer, whatever becomes of it. */
  headers: Answer['headers']
  /** Once the limits let the request through. */
  taken: Taken | undefined
  found?: string
  isEarly?: boolean
}

export interface Answer {
  status: number
  /** As on the wire. For a list: `{items, next_cursor}`. */
  body: Record<string, unknown>
  headers: Record<string, string>
  /** The resource that the call was about, where it left that out. */
  found?: string
  /** Whether it waited for something that had not come. */
  isEarly?: boolean
  /** The call that `callOperation` made: this is its answer. */
  answered?: { name: OperationName; input: Record<string, unknown> }
}

export type Dispatch = (name: OperationName, request: Request) => Promise<Answer>

/**
 * The one path from every transport to every handler. The order of checks is part of the contract:
 * 401, 429, 404, 403, 422, and then what the handler finds (409, 402, 503).
 */
export function createDispatch(
  services: Services,
  { handlers, paidHandlers }: { handlers: Handlers; paidHandlers: PaidHandlers },
  limiter: RateLimiter,
  strangers: Strangers,
): Dispatch {
  const known = createKnownTokens()
  const runs = createRuns(services)
  const inputs = new Map(Object.entries(operations).map(([name, op]) => [name, compileInput(op)]))

  async function run(name: OperationName, request: Request, begun: Begun): Promise<Answer> {
    const op: Operation = operations[name]
    const presented = await identify(name, op, request)
    const { caller } = presented
    begun.caller = caller
    if (caller) Object.assign(begun.headers, headersFor(caller))
    const limits = caller ? limiter : strangers.limiter
    begun.taken = await limits.take(op.rate, caller?.accountId, request.address)
    Object.assign(begun.headers, begun.taken.headers)
    const world = caller ? services : { ...services, db: strangers.db }
    const raw = request.input()
    const found = caller && (await findLeftOut(services, name, request, caller))
    if (found instanceof OperationError) {
      const earlier = await earlierAnswer(services, name, request, caller!)
      if (earlier || found.code !== 'not_found') checkRights(name, op, caller!)
      if (earlier) return replayed(earlier)
      throw found
    }
    if (found !== undefined) begun.found = found
    const complete = found === undefined ? request : { ...request, resourceId: found }
    const { row } = found === undefined ? presented : await identify(name, op, complete)
    if (op.resource && complete.resourceId !== undefined) checkOwner(op, row, caller!)
    if (caller) checkRights(name, op, caller)
    const given = found === undefined ? raw : { ...raw, [resourceInput(op.resource!)]: found }
    const input = inputs.get(name)!(given)
    const key = op.method === 'GET' ? undefined : readKey(request.idempotencyKey)
    const { payment, hungUp, cancelled } = request
    const gone = anyOf(cancelled, key === undefined ? hungUp : undefined)
    const until: UntilReached = async (topic, seconds, read, reached) => {
      // A write goes on with what it has begun.
      const end = op.method === 'GET' ? gone : undefined
      const value = await readUntil(services.changes, topic, seconds, read, reached, end)
      begun.isEarly = !reached(value)
      // A token may have been revoked meanwhile, or the resource taken away.
      const now = await identify(name, op, complete)
      if (op.resource) checkOwner(op, now.row, now.caller!)
      if (now.caller) checkRights(name, op, now.caller)
      return value
    }

    const isPaid =
      op.x402 === 'always' || (op.x402 === true && (payment !== undefined || input.method === 'x402'))
    const bodyOf = (output: unknown) => {
      const body = encodeOutput(op, output)
      return row?.delegated ? withoutBilling(body) : body
    }
    // Types tie each handler to its own call; here it is any of them.
    const handler = (isPaid ? paidHandlers : handlers)[name as never] as AnyHandler
    const call = {
      input,
      caller,
      asked: askedCall(name, given, caller),
      client: addressBlock(request.address),
      asTool: request.asTool,
      resource: row,
      db: world.db,
      services: world,
      dispatch,
      fail: (code: ErrorCode, message: string, options?: ErrorOptions) => {
        throw new OperationError(code, message, options)
      },
    }
    const idempotency: Idempotency | undefined =
      caller && key !== undefined
        ? { accountId: caller.accountId, tokenId: caller.tokenId, key, operation: name, input: raw }
        : undefined
    const paid = {
      ...{ payment, key, paidServices: services, isGone: () => anyOf(hungUp, cancelled).aborted },
      keyHash: key === undefined ? undefined : hashKey({ tokenId: caller?.tokenId ?? 'none', key }),
      digest: hashInput({ operation: name, input: raw }),
    }
    const work: Work = {
      prepare: handler.prepare && (() => handler.prepare!(call)),
      async run(db, prepared) {
        let finish: (() => Promise<unknown>) | undefined
        const afterCommit = (wait: () => Promise<unknown>) => {
          finish = wait
        }
        const { stream, asTask = false } = request
        const output = await handler(
          { ...call, db, until, ...(isPaid ? paid : {}), stream, gone, asTask, afterCommit },
          prepared,
        )
        return { body: bodyOf(output), finish: finish && (async () => bodyOf(await finish!())) }
      },
    }
    if (op.method === 'GET') return { status: 200, body: (await work.run(world.db)).body, headers: {} }
    return op.onMachine || isPaid
      ? runs.outside(world.db, work, idempotency, isPaid ? undefined : gone)
      : runs.write(world.db, work, idempotency)
  }

  /** Who calls, along with the resource; nobody where no token is needed and none counts. */
  async function identify(
    name: OperationName,
    op: Operation,
    request: Request,
  ): Promise<Partial<Authenticated>> {
    const { token } = request
    // Where no token is needed one gives no rights, but it may be of a kind that the operation is closed to.
    const isOpen = op.access === 'public' && (op.x402 === undefined || token === undefined)
    if (isOpen && (token === undefined || op.closedTo === undefined)) return {}
    if (token === undefined) {
      if (op.openAsTool && request.asTool) return {}
      throw new OperationError('unauthorized', 'This operation needs a Bearer token', otherDoor(op))
    }
    const wanted = op.resource && resourceRow(op.resource, request.resourceId)
    const authenticated = await known.lookUp(token, (isKnown) =>
      authenticate({ db: isKnown ? services.db : strangers.lookups, clock: services.clock }, token, wanted),
    )
    if (isOpen) {
      if (authenticated) checkKind(name, op, authenticated.caller)
      return {}
    }
    if (authenticated) {
      checkAudience(services.config, authenticated.caller, request.forGrants ?? false)
      return authenticated
    }
    await strangers.limiter.takeBadToken(request.address)
    throw new OperationError('unauthorized', 'The token is not valid: unknown, expired or revoked')
  }

  /** A charge that a person has to approve is asked for, once the transaction that it was refused in is over. */
  async function askedFor(refusal: unknown, caller: Caller | undefined): Promise<unknown> {
    if (!(refusal instanceof ApprovalNeeded) || !caller) return refusal
    return services.approving.ask(services, caller, refusal).catch((error) => error)
  }

  const dispatch: Dispatch = async (name, request) => {
    const begun: Begun = { caller: undefined, headers: {}, taken: undefined }
    const answer = await run(name, request, begun).catch(async (refusal) => {
      const error = await askedFor(refusal, begun.caller)
      if (begun.taken && isPlainRefusal(error)) Object.assign(begun.headers, await begun.taken.giveBack())
      return failureAnswer(services, error, request.requestId)
    })
    const { headers, found, isEarly } = begun
    return {
      ...answer,
      headers: { ...headers, ...answer.headers },
      ...(found === undefined ? {} : { found }),
      ...(isEarly === undefined ? {} : { isEarly }),
    }
  }
  return dispatch
}

const anyOf = (...signals: (AbortSignal | undefined)[]) =>
  AbortSignal.any(signals.filter((signal) => signal !== undefined))

interface AnyHandler {
  (call: object, prepared: unknown): Promise<unknown>
  prepare?(call: object): Promise<unknown>
}

/** While the balance is low, every answer says so. */
export const RUNS_OUT = 'x-balance-runs-out-at'

function headersFor({ expiresAt, balanceRunsOutAt }: Caller): Record<string, string> {
  return {
    'x-token-expires-at': expiresAt.toISOString(),
    ...(balanceRunsOutAt ? { [RUNS_OUT]: balanceRunsOutAt.toISOString() } : {}),
  }
}

function checkOwner(
  { resource, delegable, ofProgram }: Operation,
  row: Authenticated['row'],
  caller: Caller,
) {
  const nextSteps = resource && listOf[resource]
  if (!row) throw new OperationError('not_found', `There is no ${resource} with this id`, { nextSteps })
  if (resource === 'sandbox' && row.runs_program === true && !ofProgram)
    throw new OperationError('not_owner', 'This sandbox belongs to the program that runs in it', {
      fix: 'Wait for the program, or end it with kill_sandbox.',
      nextSteps,
    })
  if (row.account_id === caller.accountId || (delegable && row.delegated === true)) return
  throw new OperationError(
    'not_owner',
    row.delegated ? 'Only the owner may do this' : `This ${resource} belongs to another account`,
    { nextSteps },
  )
}
