import type { Readable, Writable } from 'node:stream'

/** Standard input; that of a terminal can be made raw. */
export type Input = Readable & { isTTY?: boolean; isRaw?: boolean; setRawMode?(isRaw: boolean): unknown }
/** An output; that of a terminal has a width and a height, and says when they change. */
export type Output = Writable & { isTTY?: boolean; columns?: number; rows?: number }

/** The surroundings of a command. A test hands in its own. */
export interface Terminal {
  env: Record<string, string | undefined>
  stdin: Input
  stdout: Output
  stderr: Output
  /** The wall clock, in milliseconds since 1970. */
  now(): number
  /** Fires when the command is to end: Ctrl-C, or SIGTERM. */
  signal: AbortSignal
}

/** The terminal, or the pipes, that this process was started with. */
export function realTerminal(): Terminal {
  const interrupted = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => {
      // Asked a second time, it ends without another word.
      if (interrupted.signal.aborted) process.exit(130)
      interrupted.abort(new InterruptedError())
    })
  const { env, stdin, stdout, stderr } = process
  return { env, stdin, stdout, stderr, now: () => Date.now(), signal: interrupted.signal }
}

/** The command was ended from outside. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError'

  constructor() {
    super('Interrupted')
  }
}

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow'

const CODES: Record<Style, number> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 }

/** Whether an output takes colours: a terminal, unless NO_COLOR (no-color.org) or TERM=dumb says otherwise. */
export const hasColours = ({ env }: Pick<Terminal, 'env'>, output: Output) =>
  output.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'

/** Text in a style, where the output takes it. */
export const styled = (terminal: Pick<Terminal, 'env'>, output: Output, style: Style, text: string) =>
  hasColours(terminal, output) ? `\u001b[${CODES[style]}m${text}\u001b[0m` : text
