import type { Program } from './programs.ts'
import { pieces } from './programs.ts'
import type { MockTask } from './state.ts'
import { readTask, somethingOf } from './tasks.ts'

const encoder = new TextEncoder()
export const eventOf = (event: string, data: unknown) =>
  encoder.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)

/** A body that breaks off after what it has. */
export const cutBody = (bytes: Uint8Array): ReadableStream<Uint8Array> => {
  let isSent = false
  return new ReadableStream({
    pull(controller) {
      if (isSent) controller.error(new TypeError('terminated'))
      else controller.enqueue(bytes)
      isSent = true
    },
  })
}

/** An answer as a stream: what was written first, and last the answer without it. */
export function streamOf(
  program: Pick<Program, 'stdout' | 'stderr' | 'results'>,
  answer: object,
): Uint8Array[] {
  return [
    ...pieces(program.stdout).map((text) => eventOf('stdout', { text })),
    ...pieces(program.stderr).map((text) => eventOf('stderr', { text })),
    ...(program.results ?? []).map((result) => eventOf('result', result)),
    eventOf('end', { ...answer, stdout: '', stderr: '' }),
  ]
}

/** What a task writes from these offsets on, to its end. */
export async function* streamTask(
  task: MockTask,
  { results, ...from }: { stdout: number; stderr: number; results: number },
): AsyncGenerator<Uint8Array, void> {
  const made = task.program.results ?? []
  for (;;) {
    const read = readTask(task, from)
    from = read.next
    for (const output of ['stdout', 'stderr'] as const)
      if (read[output] !== '') yield eventOf(output, { text: read[output], next: { ...from, results } })
    while (results < made.length) {
      const result = made[results++]
      yield eventOf('result', { ...result, next: { ...from, results } })
    }
    if (!read.running) return yield eventOf('end', { ...read, stdout: '', stderr: '' })
    await somethingOf(task)
  }
}

/** Pieces as the body of an answer, until its reader gives up. */
export function bodyOf(
  parts: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  signal: AbortSignal | null | undefined,
): ReadableStream<Uint8Array> {
  const iterator = (async function* () {
    yield* parts
  })()
  const gone = new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  gone.catch(() => {})
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await Promise.race([iterator.next(), gone])
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
}
