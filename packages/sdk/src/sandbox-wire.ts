import { basePath, type Operations } from '@coinrack/contract/index.ts'
import type { Output } from '@coinrack/contract/operation.ts'
import type { ErrorBody } from '@coinrack/contract/wire.ts'
import type { ClientOptions } from './client.ts'
import { CoinrackError, ConnectionError } from './errors.ts'
import type { Reply } from './exchange.ts'
import { readEvents, type StreamEvent } from './read-events.ts'
import { retryAfter } from './retry-after.ts'
import { createRepeat } from './with-retry.ts'
import { realWorld } from './world.ts'

/** Called with what a program writes, in the order in which it comes; the program waits for it, and for a promise that it returns. */
export type OnText = (text: string) => unknown

export interface Listeners {
  onStdout?: OnText
  onStderr?: OnText
}

/** A value that code showed, in all its forms by media type. */
export type CodeResult = Output<Operations['runCode']>['results'][number]

export interface CodeListeners extends Listeners {
  /** Called with each value when it is shown, once and in order; the code waits for a promise that it returns. */
  onResult?: (result: CodeResult) => unknown
}

/** Where the reader of a task is: in its outputs in bytes, and among its results. */
interface Offsets {
  stdout: number
  stderr: number
  results: number
}

/** How much of each output is kept for the result. */
const KEPT_CHARACTERS = 1024 * 1024

type Init = RequestInit & { duplex?: 'half' }

/** Carries what the operations do not: outputs while they come, and files as they are. */
export function createWire(options: ClientOptions, id: string) {
  const world = { ...realWorld, ...options }
  const base = `${new URL(options.url).origin}${basePath}/sandboxes/${id}`
  const repeat = createRepeat(options.retry ?? {}, world)
  const urlOf = (path: string) => base + path.split('?')[0]!

  async function once(path: string, init: Init): Promise<Reply & { response: Response }> {
    const headers = { ...init.headers, ...(options.token && { authorization: `Bearer ${options.token}` }) }
    try {
      const response = await world.fetch(base + path, { ...init, headers })
      const body = response.ok ? undefined : await response.json().catch(() => undefined)
      return { status: response.status, headers: response.headers, body, response }
    } catch (error) {
      init.signal?.throwIfAborted()
      throw new ConnectionError(urlOf(path), error)
    }
  }

  /** @throws CoinrackError, ConnectionError, what the signal gave as its reason */
  async function send(path: string, init: Init, isRepeatable = init.method === 'GET'): Promise<Response> {
    const make = () => once(path, init)
    // A stream can be read once.
    const reply = isStream(init.body)
      ? await make()
      : await repeat(make, { isRepeatable, signal: init.signal ?? undefined })
    if (reply.response.ok) return reply.response
    throw new CoinrackError(reply.status, (reply.body ?? {}) as Partial<ErrorBody>, retryAfter(reply))
  }

  /** The body of an answer, piece by piece. @throws ConnectionError when it broke off */
  async function* piecesOf(response: Response, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    const reader = response.body!.getReader()
    try {
      for (;;) {
        const { done, value } = await reader.read().catch((error) => {
          signal?.throwIfAborted()
          throw new ConnectionError(response.url, error)
        })
        if (done) return
        yield value
      }
    } finally {
      await reader.cancel().catch(() => {})
    }
  }

  async function* eventsOf(
    path: string,
    body: object | undefined,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<StreamEvent, void> {
    const response = await send(path, {
      method: body ? 'POST' : 'GET',
      headers: { accept: 'text/event-stream', ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    yield* readEvents(piecesOf(response, signal))
    signal?.throwIfAborted()
    throw new ConnectionError(urlOf(path), new Error('the stream ended before its end'))
  }

  /** Follows events to the last one, which is the answer. */
  async function follow<T>(events: AsyncGenerator<StreamEvent, void>, heard: ReturnType<typeof createEar>) {
    for await (const { event, data } of events) {
      if (event === 'stdout' || event === 'stderr') await heard.hear(event, data)
      if (event === 'result') await heard.see(data)
      if (event === 'error') throw new CoinrackError(0, data)
      if (event === 'end') return { ...data, ...heard.kept() } as T & { stdout: string; stderr: string }
    }
    // `eventsOf` ends by an error.
    throw new TypeError('Events ended without one that says so')
  }

  return {
    send,

    /** All of an answer's body. */
    async bytes(response: Response, signal: AbortSignal | undefined): Promise<Uint8Array> {
      const pieces: BlobPart[] = []
      for await (const piece of piecesOf(response, signal)) pieces.push(piece as BlobPart)
      return new Uint8Array(await new Blob(pieces).arrayBuffer())
    },

    /** The events of what is read, as long as it is. @throws ConnectionError when the stream broke */
    events: (path: string, signal: AbortSignal | undefined) => eventsOf(path, undefined, signal),

    /**
     * Does work and follows it to its end. @returns its answer, with the first MiB of each output
     * @throws CoinrackError; ConnectionError when the stream broke: what came of the work is not known then
     */
    run: <T>(path: string, body: object, listeners: CodeListeners, signal: AbortSignal | undefined) =>
      follow<T>(eventsOf(path, body, signal), createEar(listeners)),

    /** Follows a task in the background to its end, and connects again where a connection broke. */
    async task<T>(taskId: string, listeners: CodeListeners, signal: AbortSignal | undefined) {
      const heard = createEar(listeners)
      const attempts = options.retry?.attempts ?? 5
      for (let broken = 1; ; broken++) {
        const before = heard.next
        const { stdout, stderr, results } = before
        const path = `/tasks/${taskId}?stdout=${stdout}&stderr=${stderr}&results=${results}`
        try {
          return await follow<T>(eventsOf(path, undefined, signal), heard)
        } catch (error) {
          if (heard.next !== before) broken = 1
          if (!(error instanceof ConnectionError) || broken >= attempts) throw error
          await world.sleep(250 * 2 ** broken, signal)
        }
      }
    },
  }
}

export type Wire = ReturnType<typeof createWire>

const isStream = (body: unknown) => typeof body === 'object' && body !== null && 'getReader' in body

/** Hands on what a program writes and shows, keeps the beginning of what it writes, and knows where to read on. */
function createEar({ onStdout, onStderr, onResult }: CodeListeners) {
  const kept = { stdout: '', stderr: '' }
  let isTruncated = false
  const ear = {
    next: { stdout: 0, stderr: 0, results: 0 } as Offsets,
    async hear(output: 'stdout' | 'stderr', { text, next }: { text: string; next?: Offsets }): Promise<void> {
      const all = kept[output] + text
      isTruncated ||= all.length > KEPT_CHARACTERS
      kept[output] = all.slice(0, KEPT_CHARACTERS)
      if (next) ear.next = { ...ear.next, [output]: next[output] }
      await (output === 'stdout' ? onStdout : onStderr)?.(text)
    },
    async see({ next, ...result }: CodeResult & { next?: Offsets }): Promise<void> {
      if (next) ear.next = { ...ear.next, results: next.results }
      await onResult?.(result)
    },
    kept: () => ({ ...kept, truncated: isTruncated }),
  }
  return ear
}
