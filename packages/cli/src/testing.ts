import { PassThrough, Readable } from 'node:stream'
import { runCommandLine } from './run-command-line.ts'
import type { Terminal } from './terminal.ts'

export interface Outcome {
  exitCode: number
  stdout: string
  stderr: string
}

export interface Surroundings {
  env?: Record<string, string>
  /** Standard input. */
  input?: string
  signal?: AbortSignal
  /** Milliseconds since 1970. */
  now?: () => number
  /** The outputs are a terminal of this width. */
  columns?: number
}

/** Runs a command line in this process, with pipes in the place of a terminal. */
export async function runCaptured(words: string[], surroundings: Surroundings = {}): Promise<Outcome> {
  const { env = {}, input = '', signal = new AbortController().signal, columns } = surroundings
  const outputs = { stdout: '', stderr: '' }
  const capture = (name: 'stdout' | 'stderr') => {
    const output = new PassThrough()
    output.setEncoding('utf8').on('data', (text: string) => {
      outputs[name] += text
    })
    return Object.assign(output, columns === undefined ? {} : { isTTY: true, columns })
  }
  const terminal: Terminal = {
    env,
    stdin: Readable.from(input === '' ? [] : [Buffer.from(input)]),
    stdout: capture('stdout'),
    stderr: capture('stderr'),
    now: surroundings.now ?? (() => Date.now()),
    signal,
  }
  const exitCode = await runCommandLine(words, terminal)
  await new Promise((resolve) => setImmediate(resolve))
  return { exitCode, ...outputs }
}
