import { Worker } from 'node:worker_threads'
import { oneAtATime } from '@coinrack/host/one-at-a-time.ts'
import { OperationError } from './errors.ts'
import type { Stripped } from './strip-types-worker.ts'

/** How long one program may take: what is parsed at all takes milliseconds. */
const LONGEST_MS = 5_000

const WORKER = new URL('./strip-types-worker.ts', import.meta.url)
const LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 }

/** Takes the types out of programs, each of which keeps its lines and columns. */
export interface TypeStripper {
  /** @throws OperationError `invalid_input`, with the line, for what is no TypeScript or cannot be run without its types */
  strip(code: string): Promise<string>
}

/**
 * Programs are parsed by Node.js's own parser in a thread of its own, which a program that breaks the parser brings down, or
 * that takes too long: the next one gets another thread. It is started with the first program, and keeps no process alive.
 */
export function createTypeStripper(): TypeStripper {
  const inTurn = oneAtATime()
  let worker: Worker | undefined

  const begin = () => {
    const begun = new Worker(WORKER, {
      resourceLimits: LIMITS,
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdout: true,
      stderr: true,
    })
    // It is asked for anew after any error.
    begun.on('error', () => {})
    begun.unref()
    return begun
  }

  const ask = async (code: string): Promise<Stripped> => {
    worker ??= begin()
    const asked = worker
    const { promise, resolve } = Promise.withResolvers<Stripped>()
    const broken = (why: string) => resolve({ broken: why })
    const timer = setTimeout(broken, LONGEST_MS, 'It takes too long')
    const ended = () => broken('Its thread ended')
    asked.once('message', resolve).once('exit', ended)
    asked.postMessage(code)
    const answer = await promise
    clearTimeout(timer)
    asked.off('message', resolve).off('exit', ended)
    if ('broken' in answer) {
      worker = undefined
      void asked.terminate()
    }
    return answer
  }

  return {
    strip: (code) =>
      inTurn('', async () => {
        const answer = await ask(code)
        if ('code' in answer) return answer.code
        throw notRun('refused' in answer ? answer.refused : 'it cannot be parsed')
      }),
  }
}

function notRun(why: string): OperationError {
  return new OperationError('invalid_input', `code: ${why}`, {
    fields: { details: [{ path: 'code', message: why }] },
    fix: 'Correct the code and send it again; nothing was run or charged.',
  })
}
