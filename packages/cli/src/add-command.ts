import type { Command } from 'commander'
import type { Call } from './call.ts'

/** What a command does. @returns a number for its exit code, by default 0 */
// biome-ignore lint/suspicious/noExplicitAny: commander hands over arguments and options as they were declared
export type Run = (call: Call, ...parts: any[]) => Promise<unknown>

/** Adds the commands about one subject to the program. `act` makes an action of what a command does. */
export type AddCommands = (
  program: Command,
  act: (run: Run) => (...parts: unknown[]) => Promise<void>,
) => void
