import type { Duplex } from 'node:stream'
import type { FileEvent, FileInfo, SandboxFiles } from '../ports/sandbox-channel.ts'
import { SandboxError } from '../ports/sandbox-runtime.ts'
import { list, number, object } from './agent-answer.ts'
import type { AgentSession } from './agent-session.ts'

/** The limit of the agent's words about a file, or a folder of files. */
const LINE_BYTES = 16 * 1024 ** 2
const TYPES = ['file', 'folder', 'link', 'other'] as const
const EVENTS = ['created', 'written', 'removed', 'renamed', 'mode', 'overflow'] as const

/** Files of sandboxes whose agents are reached by links: each piece of work is a stream that begins with a line. */
export function createGuestFiles(sessionOf: (id: string) => Promise<AgentSession>): SandboxFiles {
  const open = async (id: string, op: string, args: object) => (await sessionOf(id)).open(`files.${op}`, args)

  /** The one line of work that is nothing but that. */
  const ask = async (id: string, op: string, args: object) => {
    const stream = await open(id, op, args)
    stream.end()
    try {
      return await firstLine(stream)
    } finally {
      stream.destroy()
    }
  }

  return {
    stat: async (id, path, options) => readInfo(await ask(id, 'stat', { path, ...options })),

    async list(id, path, options) {
      const { entries } = await ask(id, 'list', { path, ...options })
      return list(entries).map(readInfo)
    },

    async read(id, path, options) {
      const stream = await open(id, 'read', { path, ...options })
      stream.end()
      try {
        const { size } = await firstLine(stream)
        return { content: stream, size: number(size) }
      } catch (error) {
        stream.destroy()
        throw error
      }
    },

    async write(id, path, source, options) {
      const stream = await open(id, 'write', { path, ...options })
      const answer = firstLine(stream)
      answer.catch(() => {})
      try {
        let size = 0n
        for await (const chunk of source) {
          size += BigInt(chunk.length)
          if (!stream.write(chunk)) await Promise.race([drained(stream), answer])
        }
        // A file whose sender went away is told by what is missing here.
        const whole = Buffer.alloc(8)
        whole.writeBigUInt64LE(size)
        stream.end(whole)
        return number((await answer).size)
      } finally {
        stream.destroy()
      }
    },

    async makeFolder(id, path, options) {
      const { made } = await ask(id, 'makeFolder', { path, ...options })
      return made === true
    },
    async move(id, from, to, options) {
      await ask(id, 'move', { path: from, to, ...options })
    },
    async remove(id, path, options) {
      await ask(id, 'remove', { path, ...options })
    },

    async watch(id, path, { signal, ...options }) {
      const stream = await open(id, 'watch', { path, ...options })
      try {
        await firstLine(stream)
      } catch (error) {
        stream.destroy()
        throw error
      }
      const stop = () => stream.destroy()
      signal.addEventListener('abort', stop, { once: true })
      if (signal.aborted) stop()
      return eventsOf(stream, signal)
    },
  }
}

async function* eventsOf(stream: Duplex, signal: AbortSignal): AsyncGenerator<FileEvent> {
  let text = ''
  try {
    for await (const chunk of stream) {
      text += String(chunk)
      const lines = text.split('\n')
      text = lines.pop()!
      if (text.length > LINE_BYTES) throw new SandboxError('guest_failed', 'A line without end')
      for (const line of lines) {
        const { type, path } = object(parse(line))
        const known = EVENTS.find((event) => event === type)
        if (known) yield { type: known, path: String(path) }
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    stream.destroy()
  }
}

/** The agent says why in the words of the system, which stand at the end. */
const MISSING = ': No such file or directory'

/** The first line of a stream as an object; what comes after it is still in the stream. Throws what the line refuses. */
async function firstLine(stream: Duplex): Promise<Record<string, unknown>> {
  const parts: Buffer[] = []
  let bytes = 0
  for (;;) {
    const chunk = stream.read() as Buffer | null
    if (chunk === null) {
      if (stream.errored) throw stream.errored
      if (stream.readableEnded || stream.destroyed)
        throw new SandboxError('guest_failed', 'The agent said nothing')
      await new Promise<void>((resolve) => {
        const wake = () => {
          for (const event of ['readable', 'end', 'close', 'error']) stream.off(event, wake)
          resolve()
        }
        for (const event of ['readable', 'end', 'close', 'error']) stream.on(event, wake)
      })
      continue
    }
    const at = chunk.indexOf(10)
    parts.push(at < 0 ? chunk : chunk.subarray(0, at))
    bytes += chunk.length
    if (bytes > LINE_BYTES) throw new SandboxError('guest_failed', 'A line without end')
    if (at < 0) continue
    if (at + 1 < chunk.length) stream.unshift(chunk.subarray(at + 1))
    const said = object(parse(Buffer.concat(parts).toString()))
    if (said.refused !== undefined) {
      const why = String(said.refused)
      throw new SandboxError(why.endsWith(MISSING) ? 'file_unknown' : 'file_refused', why)
    }
    return said
  }
}

const drained = (stream: Duplex) =>
  new Promise<void>((resolve, reject) => {
    const done = () => {
      stream.off('drain', done)
      stream.off('close', done)
      if (stream.destroyed) reject(stream.errored ?? new SandboxError('guest_failed', 'The agent went away'))
      else resolve()
    }
    stream.on('drain', done)
    stream.on('close', done)
  })

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (cause) {
    throw new SandboxError('guest_failed', 'Not what an agent says about files', { cause })
  }
}

function readInfo(value: unknown): FileInfo {
  const { path, type, size, mode, user, group, modified, target } = object(value)
  return {
    path: String(path),
    type: TYPES.find((known) => known === type) ?? 'other',
    size: number(size),
    mode: number(mode),
    user: String(user),
    group: String(group),
    modifiedAt: new Date(number(modified) * 1000),
    ...(target !== undefined && { target: String(target) }),
  }
}
