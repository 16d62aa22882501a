import { basePath } from '@coinrack/contract/index.ts'
import type { ErrorBody } from '@coinrack/contract/wire.ts'
import type { ClientOptions } from './client.ts'
import { CoinrackError, ConnectionError } from './errors.ts'
import { readEvents } from './read-events.ts'
import { realWorld } from './world.ts'

/** Called with what a program writes, in the order in which it comes; the program waits for it. */
export type OnText = (text: string) => void | Promise<void>

export interface Listeners {
  onStdout?: OnText
  onStderr?: OnText
}

/** How much of each output is kept for the result. */
const KEPT_CHARACTERS = 1024 * 1024

/** Carries what the operations do not: outputs while they come, and files as they are. */
export function createWire(options: ClientOptions, id: string) {
  const world = { ...realWorld, ...options }
  const base = `${new URL(options.url).origin}${basePath}/sandboxes/${id}`

  async function send(path: string, init: RequestInit & { duplex?: 'half' }): Promise<Response> {
    const headers = { ...init.headers, ...(options.token && { authorization: `Bearer ${options.token}` }) }
    let response: Response
    try {
      response = await world.fetch(base + path, { ...init, headers })
    } catch (error) {
      init.signal?.throwIfAborted()
      throw new ConnectionError(base + path.split('?')[0]!, error)
    }
    if (response.ok) return response
    const body = await response.json().catch(() => ({}))
    throw new CoinrackError(response.status, body as Partial<ErrorBody>)
  }

  return {
    send,

    /**
     * Follows an operation to its end. @returns its answer, with the first MiB of each output
     * @throws CoinrackError; ConnectionError when the stream broke: what came of the work is not known then
     */
    async follow<T>(
      path: string,
      body: object | undefined,
      { onStdout, onStderr }: Listeners,
      signal: AbortSignal | undefined,
    ): Promise<T & { stdout: string; stderr: string }> {
      const response = await send(path, {
        method: body ? 'POST' : 'GET',
        headers: { accept: 'text/event-stream', ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
      })
      const kept = { stdout: '', stderr: '' }
      let isTruncated = false
      for await (const { event, data } of readEvents(response.body!)) {
        if (event === 'stdout' || event === 'stderr') {
          const all = kept[event] + data.text
          isTruncated ||= all.length > KEPT_CHARACTERS
          kept[event] = all.slice(0, KEPT_CHARACTERS)
          await (event === 'stdout' ? onStdout : onStderr)?.(data.text)
        }
        if (event === 'error') throw new CoinrackError(0, data)
        if (event === 'end') return { ...data, ...kept, truncated: isTruncated }
      }
      signal?.throwIfAborted()
      throw new ConnectionError(base + path, new Error('the stream ended before its end'))
    },
  }
}

export type Wire = ReturnType<typeof createWire>
