import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { connectToGuest } from './guest-socket.ts'

/*
 * QEMU's machine protocol (QMP): one JSON object per line over a Unix socket. QEMU greets, wants `qmp_capabilities`
 * first, and serves one client at a time; so a connection is opened for a few commands and closed again.
 * https://www.qemu.org/docs/master/interop/qmp-spec.html
 */

export interface Monitor {
  /** Runs one command and returns its result. Throws MonitorError when QEMU refuses it. */
  execute<T = unknown>(command: string, args?: Record<string, unknown>): Promise<T>
}

export class MonitorError extends Error {
  override name = 'MonitorError'
}

interface Message {
  QMP?: object
  return?: unknown
  error?: { class: string; desc: string }
  event?: string
}

const TIMEOUT_MS = 5_000

/**
 * Connects to the monitor at a socket path, lets `use` run commands, and disconnects.
 * Throws MonitorError when nothing answers there within `timeoutMs`.
 */
export async function withMonitor<T>(
  path: string,
  use: (monitor: Monitor) => Promise<T>,
  { timeoutMs = TIMEOUT_MS } = {},
): Promise<T> {
  const socket = connectToGuest(path)
  socket.setTimeout(timeoutMs, () => socket.destroy(new MonitorError(`No answer from ${path}`)))
  const replies = readReplies(socket)
  const execute = async (command: string, args?: Record<string, unknown>) => {
    socket.write(`${JSON.stringify({ execute: command, arguments: args })}\n`)
    const reply = await nextReply(replies, path)
    if (reply.error) throw new MonitorError(`${command}: ${reply.error.desc}`)
    return reply.return
  }
  try {
    await nextReply(replies, path)
    await execute('qmp_capabilities')
    return await use({ execute: execute as Monitor['execute'] })
  } finally {
    socket.destroy()
  }
}

/** Everything that QEMU says except events, in order. */
async function* readReplies(socket: Socket): AsyncGenerator<Message> {
  for await (const line of createInterface({ input: socket })) {
    const message = JSON.parse(line) as Message
    if (message.event === undefined) yield message
  }
}

async function nextReply(replies: AsyncGenerator<Message>, path: string): Promise<Message> {
  try {
    const { value, done } = await replies.next()
    if (!done) return value
  } catch (error) {
    if (error instanceof MonitorError) throw error
    throw new MonitorError(`The monitor at ${path} is not there`, { cause: error })
  }
  throw new MonitorError(`The monitor at ${path} hung up`)
}
