import type { OperationName, Operations } from '@coinrack/contract/index.ts'
import type { Input, Operation } from '@coinrack/contract/operation.ts'
import type { ClientOptions } from '@coinrack/sdk/index.ts'
import { z } from 'zod'
import { accountHandlers } from './account-handlers.ts'
import type { Failure } from './failures.ts'
import { absolute, demandFile } from './files.ts'
import type { Call, Handler, Handlers } from './handler.ts'
import { payInvoice } from './money.ts'
import { defaultPlans, type Plan } from './plans.ts'
import type { Program, Programs } from './programs.ts'
import { Refusal } from './refusal.ts'
import { type Asked, route } from './route.ts'
import { sandboxHandlers } from './sandbox-handlers.ts'
import { demandRunning, end, settleSandbox } from './sandboxes.ts'
import { type Account, owned, State } from './state.ts'
import { bodyOf, cutBody, streamOf, streamTask } from './stream.ts'
import { demandTask } from './tasks.ts'
import { makeVps, settleVps } from './vps.ts'
import { vpsHandlers } from './vps-handlers.ts'
import { watchBody } from './watch.ts'

/** One call that was made. */
export interface MadeCall {
  operation: OperationName
  input: Record<string, unknown>
  /** The status of its answer; undefined when none came. */
  status: number | undefined
}

export interface MockOptions {
  /** The balance of the account of `options`, in micro-USD. Default 20 USD. */
  balance?: bigint
  /** What is sold. Default: two plans. */
  plans?: Plan[]
  /** When the clock begins. */
  start?: Date
  /** What commands and code do; nothing runs in a mock. Default: they end with exit code 0, and write nothing. */
  onCommand?: Programs
  onCode?: Programs
}

/** A service in memory, for tests of programs that use the SDK. */
export interface Mock {
  /** For `createClient`, `Sandbox.create` and the others: the SDK is the real one, and only its transport is not. */
  options: ClientOptions & { token: string }
  /** What was asked, in order. */
  calls: MadeCall[]
  /** Lets the next calls of an operation, or of any, go wrong. */
  fail(operation: OperationName | 'any', failure: Failure, times?: number): void
  /** Answers an operation itself; what is answered has to be of the contract. */
  answer<N extends OperationName>(operation: N, handler: Handler<N>): void
  /** Says what commands do, or code. */
  onCommand(programs: Programs): void
  onCode(programs: Programs): void
  /** Lets time pass: machines boot, sandboxes cost and end. */
  advance(milliseconds: number): void
  now(): Date
  /** Sets the balance of the account of `options`, in micro-USD. */
  setBalance(balance: bigint): void
  /** The payment of an invoice arrives: a top-up is credited, an order begins. */
  pay(invoiceId: string): void
  /** How long machines take from now on. */
  bootSeconds(seconds: number): void
  /** From now on no machine can be made, for this reason; undefined ends that. */
  failProvisioning(reason: string | undefined): void
  /** The host of a sandbox is lost: it has ended, and its files are gone. */
  loseHost(sandboxId: string): void
}

const EMAIL = 'buyer@mock.example'
const TOKEN = 'crk_mock'
const URL_OF_MOCK = 'https://coinrack.mock'
const handlers: Handlers = { ...accountHandlers, ...vpsHandlers, ...sandboxHandlers }

/** @returns a service in memory, of which nothing leaves the process */
export function createMock(options: MockOptions = {}): Mock {
  const state = new State(URL_OF_MOCK, options.start ?? new Date('2026-01-31T12:00:00Z'))
  const plans = options.plans ?? structuredClone(defaultPlans)
  const programs: Call<'runCode'>['programs'] = {
    command: options.onCommand ?? (() => undefined),
    code: options.onCode ?? (() => undefined),
  }
  const buyer = state.account(EMAIL, TOKEN)
  const gift = { kind: 'adjustment', description: 'A gift', held_change: 0n, reference: null }
  if (options.balance !== 0n) state.post(buyer, { ...gift, amount: options.balance ?? 20_000_000n })
  const calls: MadeCall[] = []
  const planned: { operation: OperationName | 'any'; failure: Failure; times: number }[] = []
  const own = new Map<OperationName, Handler<OperationName>>()
  const answered = new Map<string, { input: string; body: string; status: number }>()
  let requests = 0
  let random = 0

  function settle(): void {
    for (const vps of state.vps.values()) settleVps(state, vps)
    for (const sandbox of state.sandboxes.values()) settleSandbox(state, sandbox)
  }

  function failureOf(name: OperationName): Failure | undefined {
    const index = planned.findIndex(({ operation }) => operation === name || operation === 'any')
    const found = planned[index]
    if (!found) return undefined
    if (--found.times <= 0) planned.splice(index, 1)
    return found.failure
  }

  /** @throws Refusal, in the order of the contract: token, resource, input */
  function read(asked: Asked, query: URLSearchParams, init: RequestInit): Call<OperationName> {
    const { operation, inPath } = asked
    const token = new Headers(init.headers).get('authorization')?.replace(/^Bearer /, '')
    const account = [...state.accounts.values()].find(
      ({ tokens }) => token !== undefined && tokens.has(token),
    )
    if (!account && operation.access !== 'public')
      throw new Refusal('unauthorized', 'The token is not valid: unknown, expired or revoked')
    if (account) checkOwner(operation, inPath, account)
    const body = typeof init.body === 'string' && !asked.isContent ? JSON.parse(init.body || '{}') : {}
    const given = { ...body, ...Object.fromEntries(query), ...inPath }
    const sent = asked.isContent && asked.name === 'writeFile' ? { ...given, content: '' } : given
    const parsed = operation.input.safeParse(sent)
    if (!parsed.success) {
      const details = parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }))
      const [first] = details
      throw new Refusal('invalid_input', `${first!.path}: ${first!.message}`, { details })
    }
    return { input: parsed.data as never, account: account!, state, plans, programs }
  }

  function checkOwner(operation: Operation, inPath: Record<string, string>, { id }: Account): void {
    const things = {
      ...{ invoice: state.invoices, order: state.orders, service: state.vps, operation: state.works },
      ...{ sandbox: state.sandboxes, snapshot: state.snapshots },
    } as const
    const { resource } = operation
    if (resource === undefined || !(resource in things)) return
    const map = things[resource as keyof typeof things] as Map<string, { accountId: string }>
    owned(map, inPath[`${resource}_id`]!, id, resource)
  }

  /** What an operation answers, on the wire. */
  function wireAnswer({ name, operation }: Asked, call: Call<OperationName>) {
    const handler = own.get(name) ?? (handlers[name] as Handler<OperationName> | undefined)
    if (!handler)
      throw new TypeError(`The mock knows no ${name}: say what it answers with mock.answer('${name}', ...)`)
    const answer: unknown = handler(call)
    if (!operation.list) return { body: encode(operation, operation.output, answer), link: undefined }
    const { limit = 50, cursor } = call.input as { limit?: number; cursor?: string }
    const [items, from] = [answer as unknown[], Number(cursor ?? 0)]
    const link = from + limit < items.length ? String(from + limit) : undefined
    return { body: encode(operation, z.array(operation.output), items.slice(from, from + limit)), link }
  }

  function perform(asked: Asked, url: URL, init: RequestInit): Response | Promise<Response> {
    const headers = new Headers(init.headers)
    const call = read(asked, url.searchParams, init)
    settle()
    if (asked.isContent) return carryFile(asked, call as Call<'readFile'>, init)
    const isStream = headers.get('accept') === 'text/event-stream' && asked.operation.streams === true
    if (isStream && asked.name === 'getTask') return followTask(call as Call<'getTask'>, init.signal)
    if (isStream && asked.name === 'watchFolder') return watch(call as Call<'watchFolder'>, init.signal)
    const key = headers.get('idempotency-key')
    const keyed = key === null ? undefined : `${call.account?.id} ${key}`
    const input = JSON.stringify([asked.name, init.body ?? ''])
    const known = keyed === undefined ? undefined : answered.get(keyed)
    if (known && known.input !== input)
      throw new Refusal('idempotency_key_reused', 'This Idempotency-Key was used for another request')
    if (known) return respond(known.status, JSON.parse(known.body), { 'idempotent-replayed': 'true' })
    const { body, link } = wireAnswer(asked, call)
    // What it did to the balance shows in the next answer.
    settle()
    if (isStream) {
      const { stdout, stderr, results } = body as Program & { stdout: string; stderr: string }
      const written = { stdout: lines(stdout), stderr: lines(stderr), ...(results && { results }) }
      return eventStream(bodyOf(streamOf(written, body as object), init.signal))
    }
    if (keyed !== undefined) answered.set(keyed, { input, body: JSON.stringify(body), status: 200 })
    const next = new URL(url)
    if (link !== undefined) next.searchParams.set('cursor', link)
    return respond(
      200,
      body,
      link === undefined ? {} : { link: `<${next.pathname}${next.search}>; rel="next"` },
    )
  }

  async function carryFile(
    { name }: Asked,
    { input }: Call<'readFile'>,
    init: RequestInit,
  ): Promise<Response> {
    const sandbox = state.sandboxes.get(input.sandbox_id)!
    demandRunning(sandbox)
    const path = absolute(input.path)
    if (name === 'readFile') return new Response(demandFile(sandbox.files, path) as Uint8Array<ArrayBuffer>)
    const bytes = new Uint8Array(await new Response(init.body as BodyInit).arrayBuffer())
    sandbox.files.set(path, bytes)
    return respond(200, { path: input.path, size: bytes.length })
  }

  function followTask({ input }: Call<'getTask'>, signal: RequestInit['signal']): Response {
    const sandbox = state.sandboxes.get(input.sandbox_id)!
    demandRunning(sandbox)
    return eventStream(bodyOf(streamTask(demandTask(sandbox, input.task_id), input), signal))
  }

  function watch({ input }: Call<'watchFolder'>, signal: RequestInit['signal']): Response {
    const sandbox = state.sandboxes.get(input.sandbox_id)!
    demandRunning(sandbox)
    const { path, recursive } = input
    return eventStream(watchBody(sandbox, { folder: absolute(path), recursive }, signal))
  }

  const respond = (status: number, body: unknown, headers: Record<string, string> = {}) =>
    new Response(JSON.stringify(body), {
      status,
      headers: { 'content-type': 'application/json', 'x-request-id': `mock-${requests}`, ...headers },
    })

  function refuse(refusal: Refusal): Response {
    const body = refusal.body(`mock-${requests}`)
    const { retry_after } = body
    return respond(
      refusal.status,
      body,
      retry_after === undefined ? {} : { 'retry-after': String(retry_after) },
    )
  }

  async function exchange(address: string, init: RequestInit): Promise<Response> {
    init.signal?.throwIfAborted()
    requests++
    const url = new URL(address)
    const asked = route(init.method ?? 'GET', url.pathname)
    if (!asked) return refuse(new Refusal('not_found', `There is nothing at ${url.pathname}`))
    const failure = failureOf(asked.name)
    const made: MadeCall = { operation: asked.name, input: inputOf(asked, url, init), status: undefined }
    calls.push(made)
    if (failure?.kind === 'cut' && failure.when === 'before') throw broken()
    if (failure?.kind === 'answer') {
      made.status = failure.status
      return new Response(failure.text, { status: failure.status })
    }
    let response: Response
    try {
      if (failure?.kind === 'refusal') throw failure.refusal
      response = await perform(asked, url, init)
      for (const { watchers } of state.sandboxes.values()) for (const watcher of watchers) watcher.look()
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      response = refuse(error)
    }
    if (failure?.kind === 'cut' && failure.when === 'after') throw broken()
    made.status = response.status
    if (failure?.kind !== 'cut') return response
    const whole = new Uint8Array(await response.arrayBuffer())
    return new Response(cutBody(whole.slice(0, Math.ceil(whole.length / 2))), { headers: response.headers })
  }

  return {
    options: {
      ...{ url: URL_OF_MOCK, token: TOKEN, fetch: exchange },
      // Each call gives other bytes than those before, so no two writes have one key.
      randomBytes(length) {
        random++
        return Uint8Array.from({ length }, (_, index) => (random >> (8 * (index % 4))) & 255)
      },
      async sleep(milliseconds, signal) {
        signal?.throwIfAborted()
        state.pass(milliseconds)
      },
    },
    calls,
    fail: (operation, failure, times = 1) => void planned.push({ operation, failure, times }),
    answer: (operation, handler) => void own.set(operation, handler as unknown as Handler<OperationName>),
    onCommand: (given) => void Object.assign(programs, { command: given }),
    onCode: (given) => void Object.assign(programs, { code: given }),
    advance(milliseconds) {
      state.pass(milliseconds)
      settle()
    },
    now: state.now,
    setBalance(balance) {
      settle()
      state.post(buyer, { ...gift, amount: balance - buyer.available })
    },
    pay(invoiceId) {
      const invoice = state.invoices.get(invoiceId)!
      payInvoice(state, invoice)
      const { order_id } = invoice.view
      const order = order_id === null ? undefined : state.orders.get(order_id)?.view
      if (!order) return
      const plan = plans.find(({ slug }) => slug === order.product)!
      const months = Number(order.total / plan.price)
      const account = state.accounts.get(invoice.accountId)!
      const { view } = makeVps(state, account, order, plan, { cycle: 'monthly', months, auto_renew: true })
      invoice.view.service_id = view.id
    },
    bootSeconds: (seconds) => void Object.assign(state, { bootSeconds: seconds }),
    failProvisioning: (reason) => void Object.assign(state, { provisioningFails: reason }),
    loseHost(sandboxId) {
      const sandbox = state.sandboxes.get(sandboxId)!
      settle()
      end(state, sandbox, 'host_lost')
      sandbox.files.clear()
    },
  }
}

const eventStream = (body: ReadableStream<Uint8Array>) =>
  new Response(body, { headers: { 'content-type': 'text/event-stream' } })

const broken = () => new TypeError('fetch failed', { cause: new Error('The connection was closed') })

/** A program writes line by line. */
const lines = (text: string) => text.match(/[^\n]*\n|[^\n]+/g) ?? []

function inputOf(
  { inPath, isContent }: Asked,
  url: URL,
  init: RequestInit,
): Input<Operations[OperationName]> {
  const body = typeof init.body === 'string' && !isContent ? JSON.parse(init.body || '{}') : {}
  return { ...body, ...Object.fromEntries(url.searchParams), ...inPath } as never
}

/** @throws TypeError when a handler answers what the contract does not know */
function encode(operation: Operation, schema: z.ZodType, answer: unknown): unknown {
  const encoded = z.safeEncode(schema, answer as never)
  if (encoded.success) return encoded.data
  throw new TypeError(
    `The answer to ${operation.path} is not of the contract: ${z.prettifyError(encoded.error)}`,
  )
}
