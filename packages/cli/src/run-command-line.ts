import { parseArgs } from 'node:util'
import { type Command, RefusedError } from './command.ts'
import { receiptVerify } from './receipt-verify.ts'

/** In the order of the usage text. */
const commands: Command[] = [receiptVerify]

export interface Outcome {
  /** 0 done, 1 refused, 2 called wrongly. */
  exitCode: 0 | 1 | 2
  stdout: string
  stderr: string
}

/** Does what the words of a command line ask for. */
export async function runCommandLine(words: string[]): Promise<Outcome> {
  const command = commands.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '))
  if (!command || words.includes('--help')) {
    const asked = words.length === 0 || words.includes('--help')
    if (asked) return { exitCode: 0, stdout: usage(command ? [command] : commands), stderr: '' }
    return {
      exitCode: 2,
      stdout: '',
      stderr: `There is no command "${words.join(' ')}"\n\n${usage(commands)}`,
    }
  }
  let call: ReturnType<typeof readCall>
  try {
    call = readCall(command, words.slice(command.name.split(' ').length))
  } catch (error) {
    return { exitCode: 2, stdout: '', stderr: `${(error as Error).message}\n\n${usage([command])}` }
  }
  try {
    return { exitCode: 0, stdout: await command.run(call.args, call.options), stderr: '' }
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error
    return { exitCode: 1, stdout: '', stderr: error.message }
  }
}

/** @throws TypeError when the command is not called so */
function readCall({ name, arguments: expected, takes, options = {} }: Command, words: string[]) {
  // Every option has a value, which may begin with a hyphen, as a key in base64url does.
  const args = words.flatMap((word, index) => {
    if (words[index - 1]?.startsWith('--') && words[index - 1]!.slice(2) in options) return []
    const isOption = word.startsWith('--') && word.slice(2) in options && index + 1 < words.length
    return isOption ? [`${word}=${words[index + 1]}`] : [word]
  })
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  if (positionals.length !== takes) throw new TypeError(`${name} takes ${expected}`)
  return { args: positionals, options: values as Record<string, string> }
}

const usage = (shown: Command[]) =>
  `Usage:\n${shown.map(({ name, arguments: words, summary }) => `  coinrack ${`${name} ${words}`.trim()}\n      ${summary}`).join('\n')}`
