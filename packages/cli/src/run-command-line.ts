import { CoinrackError } from '@coinrack/sdk/index.ts'
import { Command, CommanderError } from 'commander'
import type { AddCommands, Run } from './add-command.ts'
import { type CommonOptions, createCall, errorText, toJson } from './call.ts'
import { account } from './commands/account.ts'
import { call } from './commands/call.ts'
import { completion } from './commands/completion.ts'
import { consoles } from './commands/console.ts'
import { copy } from './commands/copy.ts'
import { exec } from './commands/exec.ts'
import { keys } from './commands/keys.ts'
import { login } from './commands/login.ts'
import { logs } from './commands/logs.ts'
import { metrics } from './commands/metrics.ts'
import { money } from './commands/money.ts'
import { order } from './commands/order.ts'
import { plans } from './commands/plans.ts'
import { power } from './commands/power.ts'
import { receipts } from './commands/receipts.ts'
import { run as runInSandbox } from './commands/run.ts'
import { sandboxes } from './commands/sandboxes.ts'
import { shell } from './commands/shell.ts'
import { ssh } from './commands/ssh.ts'
import { tokens } from './commands/tokens.ts'
import { vps } from './commands/vps.ts'
import { exitCodeOf, exitCodes } from './exit-codes.ts'
import { commandFor } from './name-commands.ts'
import { NotRunError } from './or-not-run.ts'
import { InterruptedError, type Terminal } from './terminal.ts'
import { version } from './version.ts'

/** In the order of the help. */
const subjects: [string, AddCommands[]][] = [
  ['Account', [login, account, tokens, keys]],
  ['Money', [plans, money, receipts]],
  ['VPS', [order, vps, ssh, copy, exec, power, logs, consoles, metrics]],
  ['Sandboxes', [runInSandbox, shell, sandboxes]],
  ['More', [call, completion]],
]

/**
 * Does what the words of a command line ask for, and says what came of it on the terminal.
 * @returns the exit code
 */
export async function runCommandLine(words: string[], terminal: Terminal): Promise<number> {
  let exitCode: number = exitCodes.done
  let options: CommonOptions = { json: words.includes('--json') }
  const act =
    (run: Run) =>
    async (...parts: unknown[]) => {
      const command = parts.pop() as Command
      options = command.opts<CommonOptions>()
      const result = await run(createCall(terminal, options), ...parts)
      exitCode = typeof result === 'number' ? result : exitCodes.done
    }
  try {
    await createProgram(terminal, act).parseAsync(words, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
    // Whatever failed because it was interrupted, was interrupted.
    const cause =
      terminal.signal.aborted && !(error instanceof InterruptedError) ? terminal.signal.reason : error
    const code = exitCodeOf(cause)
    if (code === undefined) throw cause
    report(terminal, cause as Error, code, options.json === true)
    return code
  }
  return exitCode
}

/** All commands, as a tree. */
function createProgram(terminal: Terminal, act: Parameters<AddCommands>[1]): Command {
  const { stdout, stderr } = terminal
  const program = new Command('coinrack')
  program
    .description('VPS and code sandboxes, prepaid in stablecoins')
    .version(version())
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .addHelpText('after', HELP)
  for (const [heading, adding] of subjects) {
    program.commandsGroup(`${heading}:`)
    for (const add of adding) add(program, act)
  }
  for (const command of leaves(program))
    command
      .option('--json', 'answer as JSON, as the service writes it')
      .option('--url <url>', 'another service than that of the last login')
  return program
}

const HELP = `
Every command takes --json and --help. COINRACK_URL and COINRACK_TOKEN stand in for a login; NO_COLOR is heeded.
Exit codes: 0 done, 1 refused, 2 called wrongly, 3 log in first, 4 not enough money, 5 unknown, 6 service unavailable,
7 can no longer happen, 8 waited too long, 130 interrupted; ssh, exec, run and shell end as what they ran, or with 125.`

/** The commands that do something, at any depth. */
export const leaves = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leaves)

/** Says why a command was not done: for people with what to do about it, as JSON with all that the service said. */
function report(terminal: Terminal, error: Error, exit_code: number, isJson: boolean): void {
  const { stderr } = terminal
  const cause = error instanceof NotRunError ? error.cause : error
  const refusal = cause instanceof CoinrackError ? cause : undefined
  if (isJson) {
    const { message } = error
    const more = refusal && { ...refusal.body, code: refusal.code, status: refusal.status }
    stderr.write(`${toJson({ error: { ...more, message, exit_code } })}\n`)
    return
  }
  stderr.write(errorText(terminal, error.message))
  if (refusal) stderr.write(`  ${commandFor(refusal.fix)}\n`)
}
