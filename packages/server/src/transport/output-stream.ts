import type { Operation } from '@coinrack/contract/operation.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Answer } from '../dispatch/dispatch.ts'
import type { OutputStream } from '../dispatch/handler.ts'
import { beginEvents, eventText, goneOf, HEARTBEAT, HEARTBEAT_MS, writeEvent } from './write-events.ts'

/** A reader may stop for so long; what it reads from waits meanwhile. */
const STUCK_MS = 5 * 60_000

/** Whether what comes of an operation is wanted while it goes on. */
export const wantsStream = (op: Operation, request: FastifyRequest) =>
  op.streams === true && request.headers.accept?.includes('text/event-stream') === true

/**
 * Answers an operation as a stream of events: what it tells while it works, at the pace of the reader, and last `end`
 * with its answer, or `error`. What is refused before anything was told is answered as ever.
 */
export async function streamAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  closing: AbortSignal,
  run: (stream: OutputStream) => Promise<Answer>,
): Promise<Answer | undefined> {
  const gone = goneOf(request, closing)
  let hasBegun = false
  const write = (text: string) => {
    if (!hasBegun) beginEvents(reply)
    hasBegun = true
    return writeEvent(reply.raw, text, gone, STUCK_MS)
  }
  const heartbeat = setInterval(() => {
    if (!reply.raw.writableNeedDrain) void write(HEARTBEAT)
  }, HEARTBEAT_MS)
  try {
    const answer = await run({ gone, emit: (event, data) => write(eventText(event, data)) })
    if (!hasBegun && answer.status !== 200) return answer
    await write(eventText(answer.status === 200 ? 'end' : 'error', answer.body))
    reply.raw.end()
    return undefined
  } finally {
    clearInterval(heartbeat)
  }
}
