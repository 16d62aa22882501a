import type { World } from './world.ts'

/** An answer of a service that follows a script; an error is a connection that broke. */
export type ScriptedReply =
  | { status?: number; body?: unknown; text?: string; headers?: Record<string, string> }
  | Error

export interface ScriptedWorld extends World {
  requests: { url: string; method: string; headers: Record<string, string>; body: string | undefined }[]
  /** Milliseconds of each pause that was made. */
  pauses: number[]
}

/** A world whose service gives these replies in turn, whose time does not pass, and whose chance is always zero. */
export function scriptedWorld(replies: ScriptedReply[]): ScriptedWorld {
  const left = [...replies]
  const requests: ScriptedWorld['requests'] = []
  const pauses: number[] = []
  return {
    requests,
    pauses,
    randomBytes: (length) => new Uint8Array(length),
    async sleep(milliseconds, signal) {
      signal?.throwIfAborted()
      pauses.push(milliseconds)
    },
    async fetch(url, { method, headers, body, signal }) {
      signal?.throwIfAborted()
      requests.push({
        url,
        method: method!,
        headers: headers as Record<string, string>,
        body: body as string | undefined,
      })
      const reply = left.shift()
      if (!reply) throw new Error('The script is over')
      if (reply instanceof Error) throw reply
      return new Response(reply.text ?? JSON.stringify(reply.body), {
        status: reply.status ?? 200,
        headers: reply.headers,
      })
    },
  }
}
