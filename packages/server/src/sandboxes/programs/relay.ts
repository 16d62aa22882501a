import type { Duplex } from 'node:stream'
import type { OperationName } from '@coinrack/contract/index.ts'
import { unknownOperation } from '../../dispatch/call-by-name.ts'
import { errorBody } from '../../platform/errors.ts'
import { linesOf, TooMuch } from './lines.ts'
import { operationOf, type ProgramCall, readCall } from './read-call.ts'

/** The most bytes of one call, and of one answer. */
export const MESSAGE_BYTES = 1024 * 1024
/** The most bytes of all calls of a program together, and of all answers. */
export const RUN_BYTES = 64 * 1024 * 1024
/** How many calls of a program are answered at the same time: the others wait in the sandbox. */
export const CALLS_AT_ONCE = 8
/** How many calls one program may make. */
export const MOST_CALLS = 1000
/** How long calls that are under way at the end are waited for. */
const GRACE_MS = 2_000

/** What a call was answered with: as `Answer` of dispatch, without the headers. */
export interface CallAnswer {
  status: number
  body: Record<string, unknown>
}

/** Asks for an operation, with the token of the run. */
export type AskOperation = (
  name: OperationName,
  call: Pick<ProgramCall, 'input' | 'key'>,
) => Promise<CallAnswer>

export interface CallCount {
  operation: string
  calls: number
  failed: number
}

export interface Relay {
  /** The operations that were asked for so far, in the order of the first calls. */
  counts(): CallCount[]
  /** Asks for nothing more, and cuts the connection. Resolves when nothing that was asked for is under way, or soon. */
  end(): Promise<void>
}

/**
 * Carries the calls of one program to the service, and the answers back. The other end of the connection is a sandbox with
 * a stranger's code in it: it may send what is no call, or too much, and stop reading. A call names an operation, and
 * nothing else decides where it goes: there is no address, no header and no token in it. The first line that is no call ends
 * the connection; calls over the limits are refused without being asked.
 */
export function relayCalls(connection: Duplex, ask: AskOperation): Relay {
  const counted = new Map<string, CallCount>()
  const underWay = new Set<Promise<void>>()
  let [isOver, calls, written] = [false, 0, 0]

  const cut = () => {
    isOver = true
    connection.destroy()
  }
  connection.on('error', cut)

  /** Resolves when the connection takes more, or no more at all. */
  const write = async (text: string) => {
    written += Buffer.byteLength(text)
    if (written > RUN_BYTES) return cut()
    if (isOver || !connection.writable || connection.write(text)) return
    await new Promise<void>((resolve) => {
      const done = () => {
        connection.off('drain', done).off('close', done)
        resolve()
      }
      connection.on('drain', done).on('close', done)
    })
  }

  const answer = async (call: ProgramCall): Promise<void> => {
    const name = operationOf(call.name)
    if (!name) return write(message({ id: call.id, error: errorBody(unknownOperation(call.name), '') }))
    const count = counted.get(name) ?? { operation: name, calls: 0, failed: 0 }
    counted.set(name, count)
    count.calls++
    const { status, body } = await ask(name, call)
    if (status !== 200) count.failed++
    const text = message({ id: call.id, ...(status === 200 ? { answer: body } : { error: body }) })
    await write(
      Buffer.byteLength(text) > MESSAGE_BYTES ? refusal(call.id, 'answer_too_large', LARGE(name)) : text,
    )
  }

  const carry = async () => {
    for await (const line of linesOf(connection, { lineBytes: MESSAGE_BYTES, bytes: RUN_BYTES })) {
      const call = readCall(line)
      if (isOver || !call) return
      calls++
      if (calls > 2 * MOST_CALLS) return
      const done = (calls > MOST_CALLS ? write(refusal(call.id, 'too_many_calls', MANY)) : answer(call))
        // It was not answered: without its answer the program cannot go on in good order.
        .catch(cut)
        .finally(() => underWay.delete(done))
      underWay.add(done)
      while (underWay.size >= CALLS_AT_ONCE) await Promise.race(underWay)
    }
  }
  carry()
    .catch((error) => {
      if (!(error instanceof TooMuch) && !connection.destroyed) connection.destroy(error)
    })
    .finally(cut)

  return {
    counts: () => [...counted.values()].map((count) => ({ ...count })),
    async end() {
      cut()
      const late = Promise.withResolvers<void>()
      const timer = setTimeout(late.resolve, GRACE_MS)
      await Promise.race([Promise.all(underWay), late.promise]).finally(() => clearTimeout(timer))
    },
  }
}

const message = (content: object) => `${JSON.stringify(content)}\n`

/** An error of the relay itself, which the contract does not know, in the form of all others. */
const refusal = (id: number, code: string, [text, fix]: [message: string, fix: string]) =>
  message({ id, error: { code, message: text, fix, next_steps: [] } })

const LARGE = (name: OperationName): [string, string] => [
  `The answer of ${name} has more than 1 MiB; what was asked for was done`,
  'Ask for less at once: with limit and cursor, or with offset and length.',
]
const MANY: [string, string] = [
  `A program may make ${MOST_CALLS} calls`,
  'Print what is known so far, and go on in another run_program.',
]
