import { exitCodeOf, exitCodes, RefusedError } from './exit-codes.ts'

/**
 * Runs something elsewhere, whose exit code is that of the command. What fails before it has one ends the command with 125, so that
 * the two can be told apart.
 */
export async function orNotRun(run: () => Promise<number>): Promise<number> {
  try {
    return await run()
  } catch (error) {
    const code = exitCodeOf(error)
    if (code === undefined || code === exitCodes.interrupted || code === exitCodes.usage) throw error
    throw new NotRunError(error as Error)
  }
}

/** Something could not be run: `cause` says why. */
export class NotRunError extends RefusedError {
  constructor(cause: Error) {
    super(cause.message, exitCodes.notRun)
    this.cause = cause
  }
}
