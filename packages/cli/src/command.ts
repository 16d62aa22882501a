export interface Command {
  /** The words that call it, such as `receipt verify`. */
  name: string
  /** The arguments that follow the name, such as `<file>`. */
  arguments: string
  summary: string
  /** How many arguments it takes. */
  takes: number
  options?: Record<string, { type: 'string' }>
  /** @returns what it says on standard output */
  run(args: string[], options: Record<string, string>): Promise<string>
}

/** The command cannot be done, and its caller is told why. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
}
