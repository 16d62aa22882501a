import { parseArgs } from 'node:util'
import { type Command, type Operator, RefusedError } from './command.ts'
import { commands } from './commands.ts'

export interface Outcome {
  /** 0 done, 1 refused or something found amiss, 2 called wrongly. */
  exitCode: 0 | 1 | 2
  stdout: string
  stderr: string
}

/** Does what the words of a command line ask for. */
export async function runOperator(operator: Operator, words: string[]): Promise<Outcome> {
  const command = commandOf(words)
  if (!command || words.includes('--help')) return help(command, words)
  const rest = words.slice(command.name.split(' ').length)
  let call: ReturnType<typeof readCall>
  try {
    call = readCall(command, rest)
  } catch (error) {
    return { exitCode: 2, stdout: '', stderr: `${(error as Error).message}\n\n${usageOf(command)}` }
  }
  try {
    const { json, text, isAmiss } = await command.run(operator, call.args, call.options)
    return {
      exitCode: isAmiss ? 1 : 0,
      stdout: call.asJson ? JSON.stringify(json, null, 2) : text,
      stderr: '',
    }
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error
    return { exitCode: 1, stdout: '', stderr: error.message }
  }
}

/** The longest name that the words begin with: "backup prove" is no backup to a file called prove. */
const commandOf = (words: string[]): Command | undefined =>
  commands
    .filter(({ name }) => name === words.slice(0, name.split(' ').length).join(' '))
    .sort((one, other) => other.name.length - one.name.length)[0]

/** A negative number is an argument here, where `parseArgs` would see options: it is hidden from it by a mark. */
const MARK = '\u0000'

function readCall(command: Command, words: string[]) {
  const { values, positionals } = parseArgs({
    args: words.map((word) => word.replace(/^-(?=[\d.])/, `${MARK}-`)),
    options: { ...command.options, json: { type: 'boolean' } },
    allowPositionals: true,
  })
  if (positionals.length !== command.takes) {
    throw new Error(
      `${command.name} takes ${command.takes === 1 ? 'one argument' : `${command.takes} arguments`}, not ${positionals.length}`,
    )
  }
  const { json, ...options } = values
  return {
    args: positionals.map((word) => word.replace(MARK, '')),
    options: options as Record<string, string>,
    asJson: json === true,
  }
}

function help(command: Command | undefined, words: string[]): Outcome {
  if (command) return { exitCode: 0, stdout: usageOf(command), stderr: '' }
  const asked = words.length === 0 || words.includes('--help')
  const problem = asked ? '' : `There is no command "${words.join(' ')}"\n\n`
  return asked
    ? { exitCode: 0, stdout: usage(), stderr: '' }
    : { exitCode: 2, stdout: '', stderr: `${problem}${usage()}` }
}

const PROGRAM = 'npm run operator --'

const usageOf = (command: Command) =>
  `Usage: ${[PROGRAM, command.name, command.arguments].filter(Boolean).join(' ')} [--json]\n\n  ${command.summary}.`

const usage = () => `Usage: ${PROGRAM} <command> [--json]

The commands work on the database and the files of the service, whether it runs or not, with the
same settings (COINRACK_DATA, DATABASE_URL, ...).

${commands
  .map((command) => `  ${`${command.name} ${command.arguments}`.trim()}\n      ${command.summary}`)
  .join('\n')}`
