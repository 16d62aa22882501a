import { CoinrackError, ConnectionError, NeverError } from '@coinrack/sdk/index.ts'
import { InterruptedError } from './terminal.ts'
import { TimeoutError } from './wait-limit.ts'

/** How a command ends. docs/guide-command-line.md shows the same table. */
export const exitCodes = {
  done: 0,
  refused: 1,
  usage: 2,
  login: 3,
  money: 4,
  unknown: 5,
  unavailable: 6,
  never: 7,
  timeout: 8,
  /** A command that runs something elsewhere could not: its other codes are those of what it ran. */
  notRun: 125,
  interrupted: 130,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** The command cannot be done, and its caller is told why. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  readonly exitCode: ExitCode

  constructor(message: string, exitCode: ExitCode = exitCodes.refused) {
    super(message)
    this.exitCode = exitCode
  }
}

const MONEY = new Set([
  'insufficient_balance',
  'account_owes',
  'budget_exceeded',
  'approval_needed',
  'approval_limit',
  'price_above_maximum',
])

/** The exit code for what was thrown; undefined for a mistake of this program. */
export function exitCodeOf(error: unknown): ExitCode | undefined {
  if (error instanceof RefusedError) return error.exitCode
  if (error instanceof InterruptedError) return exitCodes.interrupted
  if (error instanceof TimeoutError) return exitCodes.timeout
  if (error instanceof NeverError) return exitCodes.never
  if (error instanceof ConnectionError) return exitCodes.unavailable
  if (!(error instanceof CoinrackError)) return undefined
  if (MONEY.has(error.code)) return exitCodes.money
  if (error.code === 'unexpected_answer') return exitCodes.unavailable
  switch (error.status) {
    case 401:
      return exitCodes.login
    case 404:
      return exitCodes.unknown
    case 429:
    case 502:
    case 503:
    case 504:
      return exitCodes.unavailable
  }
  return exitCodes.refused
}
