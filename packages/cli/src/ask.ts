import { createInterface } from 'node:readline/promises'
import { exitCodes, RefusedError } from './exit-codes.ts'
import { InterruptedError, type Terminal } from './terminal.ts'

/** Whether a person can be asked. */
export const canAsk = ({ stdin, stderr }: Terminal) => stdin.isTTY === true && stderr.isTTY === true

/**
 * Asks the person at the terminal.
 * @param otherwise what is to be given on the command line where there is none
 */
export async function ask(terminal: Terminal, question: string, otherwise: string): Promise<string> {
  if (!canAsk(terminal))
    throw new RefusedError(`There is no terminal to ask "${question.trim()}": ${otherwise}`, exitCodes.usage)
  const lines = createInterface({ input: terminal.stdin, output: terminal.stderr })
  const interrupted = new AbortController()
  lines.once('SIGINT', () => interrupted.abort())
  try {
    return (await lines.question(question, { signal: interrupted.signal })).trim()
  } catch {
    terminal.stderr.write('\n')
    throw new InterruptedError()
  } finally {
    lines.close()
  }
}

/** Has a destructive change confirmed. @throws RefusedError unless the answer is yes */
export async function confirm(
  terminal: Terminal,
  question: string,
  isConfirmed: boolean | undefined,
): Promise<void> {
  if (isConfirmed) return
  const answer = await ask(terminal, `${question} [y/N] `, 'confirm it with --yes')
  if (!/^y(es)?$/i.test(answer)) throw new RefusedError('Nothing was done')
}

/** All of standard input. */
export async function readAll({ stdin }: Terminal): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of stdin) parts.push(Buffer.from(part))
  return Buffer.concat(parts).toString('utf8')
}
