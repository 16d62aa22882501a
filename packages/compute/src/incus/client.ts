import { once } from 'node:events'
import { text as readText } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, type Dispatcher } from 'undici'
import { WebSocket } from 'ws'

/*
 * Calls to the API of an Incus cluster (https://linuxcontainers.org/incus/docs/main/rest-api/). Any member answers for the
 * whole cluster, but a member that has died can hold up a call to what lives on it: every call has a time limit, and a
 * call that only reads goes on to the next member.
 */

export interface IncusMember {
  name: string
  /** Such as `https://10.0.0.1:8443`. */
  url: string
}

export interface IncusClientOptions {
  members: IncusMember[]
  /** The project that the certificate is restricted to. */
  project: string
  /** The client's own certificate and key, as PEM. */
  certificate: string
  key: string
  /** The certificate of the cluster, as PEM. Members that show another one are refused. */
  clusterCertificate: string
  /** The longest that one call may take, in milliseconds. Default 12,000: longer than a new leader takes. */
  timeoutMs?: number
}

export interface CallOptions {
  query?: Record<string, string>
  /** JSON, or bytes that are sent as they are. */
  body?: object | Buffer | AsyncIterable<Uint8Array>
  headers?: Record<string, string>
  /** The member that is asked first. */
  member?: string
  timeoutMs?: number
}

/** A call that the cluster refused, or an operation that failed there. */
export class IncusError extends Error {
  override name = 'IncusError'
  /** The HTTP status, also of an operation that failed. */
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** No member answered, or the answer to a change was lost: whether it was made has to be looked at. */
export class IncusUnreachableError extends Error {
  override name = 'IncusUnreachableError'
}

export const isNotFound = (error: unknown): boolean => error instanceof IncusError && error.status === 404

const TIMEOUT_MS = 12_000
/** How long an operation may take by default. */
const OPERATION_MS = 10 * 60_000
/** One wait for an operation ends after this long, and another begins. */
const WAIT_SECONDS = 5
/** So many waits in a row without an answer, and what became of the operation is unknown. */
const MOST_UNANSWERED = 3
/** The message of a member that has no leader or is coming up; another member, or a later call, may do better. */
const NOT_READY =
  /isn't ready yet|shutting down|no available .*leader|Failed to begin transaction|context deadline exceeded/i
const RETRY_MS = 250

interface Answer {
  type?: 'sync' | 'async' | 'error'
  metadata?: unknown
  operation?: string
  error?: string
  error_code?: number
}

interface Operation {
  id: string
  status_code: number
  err: string
  metadata: Record<string, unknown> | null
  resources: Record<string, string[]> | null
}

/** Operations have status 200 when they are done, and 400 or 401 when they failed or were called off. */
const isOver = ({ status_code }: Operation) => status_code >= 200

export type IncusClient = ReturnType<typeof createIncusClient>

export function createIncusClient(options: IncusClientOptions) {
  const { members, project, timeoutMs = TIMEOUT_MS } = options
  const trust = {
    cert: options.certificate,
    key: options.key,
    ca: options.clusterCertificate,
    // The certificate is the cluster's own and names no addresses: that it is this very one is what counts.
    checkServerIdentity: () => undefined,
  }
  const agent = new Agent({
    connect: { ...trust, timeout: 3_000 },
    connections: 16,
    pipelining: 1,
  })
  /** The member that answered last is asked first, unless the caller names one. */
  let preferred = members[0]!.name

  const inOrder = (first: string | undefined) => {
    const wanted = first ?? preferred
    return [...members].sort((a, b) => Number(b.name === wanted) - Number(a.name === wanted))
  }

  async function send(member: IncusMember, method: string, path: string, call: CallOptions) {
    const url = new URL(path, member.url)
    if (!url.searchParams.has('project')) url.searchParams.set('project', project)
    for (const [name, value] of Object.entries(call.query ?? {})) url.searchParams.set(name, value)
    const { body } = call
    const isBytes = Buffer.isBuffer(body) || (body !== undefined && Symbol.asyncIterator in body)
    const limit = call.timeoutMs ?? timeoutMs
    const response = await agent.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: method as Dispatcher.HttpMethod,
      headers: {
        ...(body !== undefined && {
          'content-type': isBytes ? 'application/octet-stream' : 'application/json',
        }),
        ...call.headers,
      },
      ...(body !== undefined && {
        body: isBytes ? (body as Buffer) : JSON.stringify(body),
      }),
      headersTimeout: limit,
      bodyTimeout: limit,
      signal: AbortSignal.timeout(limit),
    })
    return { status: response.statusCode, headers: response.headers, text: await response.body.text() }
  }

  /** Asks one member after the other. A change is sent to another one only where none can have begun it. */
  async function ask(method: string, path: string, call: CallOptions = {}) {
    const isRead = method === 'GET'
    let failure: unknown
    for (const member of inOrder(call.member)) {
      let answer: Awaited<ReturnType<typeof send>>
      try {
        answer = await send(member, method, path, call)
      } catch (error) {
        failure = error
        if (isRead || wasNeverSent(error)) continue
        break
      }
      const refusal = refusalOf(answer)
      if (refusal && refusal.status >= 500 && NOT_READY.test(refusal.message)) {
        failure = refusal
        continue
      }
      if (call.member === undefined) preferred = member.name
      if (refusal) throw refusal
      return { ...answer, member }
    }
    throw new IncusUnreachableError(`The cluster did not answer ${method} ${path}`, { cause: failure })
  }

  async function finish(operation: string, member: string, limitMs: number): Promise<Operation> {
    // Its address has the project in its query already.
    const path = operation.split('?')[0]!
    let unanswered = 0
    for (let waited = 0; ; ) {
      const answer = await ask('GET', `${path}/wait`, {
        query: { timeout: String(WAIT_SECONDS) },
        member,
        timeoutMs: timeoutMs + WAIT_SECONDS * 1_000,
      }).catch((error) => {
        // Operations live in the memory of one member: one that is gone says nothing of what it did.
        if (isNotFound(error))
          throw new IncusUnreachableError(`The operation ${path} is gone`, { cause: error })
        // A member that is busy with what it was asked for may answer the next time.
        if (error instanceof IncusUnreachableError && ++unanswered < MOST_UNANSWERED) return undefined
        throw error
      })
      if (answer === undefined) {
        await sleep(RETRY_MS)
        continue
      }
      unanswered = 0
      const state = parse(answer.text).metadata as Operation
      if (isOver(state)) return state
      waited += WAIT_SECONDS * 1_000
      if (waited >= limitMs) throw new IncusUnreachableError(`The operation ${path} takes too long`)
      await sleep(RETRY_MS)
    }
  }

  return {
    members,

    /** Returns the value at the path, and its ETag. Throws IncusError, IncusUnreachableError. */
    async get<T>(path: string, call: CallOptions = {}): Promise<{ value: T; etag: string | undefined }> {
      const { text, headers } = await ask('GET', path, call)
      return { value: parse(text).metadata as T, etag: headers.etag as string | undefined }
    },

    /** A text that is no JSON, such as the metrics of one member, which no other answers for. */
    async text(path: string, member: IncusMember): Promise<string> {
      const answer = await send(member, 'GET', path, {})
      const refusal = refusalOf(answer)
      if (refusal) throw refusal
      return answer.text
    },

    /**
     * Makes a change and waits until it is made. Throws IncusError when it was refused or failed, and
     * IncusUnreachableError when that is unknown.
     * @returns the operation, where there is one
     */
    async change(
      method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
      path: string,
      { operationMs = OPERATION_MS, ...call }: CallOptions & { operationMs?: number } = {},
    ): Promise<Operation | undefined> {
      const { text, member } = await ask(method, path, call)
      const answer = parse(text)
      if (answer.type !== 'async') return undefined
      const operation = await finish(answer.operation!, member.name, operationMs)
      if (operation.status_code !== 200) throw new IncusError(operation.status_code, operation.err)
      return operation
    },

    /**
     * Begins an operation that is carried by websockets, and opens all of them: it waits until each is open
     * that the operation waits for.
     * @param wire is given each websocket before anything comes over it
     * @returns the websockets by their names, and a wait for the end of the operation
     */
    async open(
      path: string,
      call: CallOptions,
      wire: (name: string, socket: WebSocket) => void = () => {},
    ): Promise<{ sockets: Record<string, WebSocket>; finished(limitMs: number): Promise<Operation> }> {
      const { text, member } = await ask('POST', path, call)
      const { metadata, operation } = parse(text) as { metadata: Operation; operation: string }
      const secrets = (metadata.metadata?.fds ?? {}) as Record<string, string>
      const opened = await Promise.all(
        Object.entries(secrets).map(async ([name, secret]) => {
          const url = new URL(`/1.0/operations/${metadata.id}/websocket?secret=${secret}`, member.url)
          const socket = new WebSocket(url, [], {
            ...trust,
            // Its types differ from those of Node.js here.
            checkServerIdentity: trust.checkServerIdentity as never,
            handshakeTimeout: timeoutMs,
          })
          wire(name, socket)
          try {
            await untilOpen(socket)
          } catch (error) {
            // The operation does not wait for the one that controls it, and may be over by then.
            if (name === 'control') return []
            throw error
          }
          return [[name, socket] as const]
        }),
      )
      return {
        sockets: Object.fromEntries(opened.flat()),
        finished: (limitMs) => finish(operation, member.name, limitMs),
      }
    },

    close: () => agent.close(),
  }
}

/** @throws IncusError when the cluster refuses the websocket */
async function untilOpen(socket: WebSocket): Promise<void> {
  const refused = new Promise<never>((_, reject) => {
    socket.once('unexpected-response', async (_request, response) => {
      const said = await readText(response).catch(() => '')
      reject(new IncusError(response.statusCode!, parse(said).error ?? `HTTP ${response.statusCode}`))
    })
  })
  await Promise.race([once(socket, 'open'), refused])
}

function parse(text: string): Answer {
  try {
    return JSON.parse(text) as Answer
  } catch {
    return { error: text.slice(0, 200) }
  }
}

/** The refusal in an answer. Waiting for an operation that failed is answered with status 200, and the error in it. */
function refusalOf({ status, text }: { status: number; text: string }): IncusError | undefined {
  if (status < 400 && !text.startsWith('{"type":"error"')) return undefined
  const { error, error_code } = parse(text)
  return new IncusError(error_code || status, error ?? `HTTP ${status}`)
}

/** Errors before the connection stood: the request has not left. */
const wasNeverSent = (error: unknown): boolean =>
  ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'].includes(
    (error as { code?: string }).code ?? '',
  )
