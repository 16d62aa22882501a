import type { AddCommands } from '../add-command.ts'
import { readAll } from '../ask.ts'
import { exitCodes, RefusedError } from '../exit-codes.ts'

export const call: AddCommands = (program, act) => {
  program
    .command('call')
    .description('call any operation of the service by its name, and show the answer as JSON')
    .argument('<operation>', 'such as list_snapshots')
    .argument(
      '[input...]',
      'NAME=VALUE, where VALUE is JSON or text; - reads a JSON object from standard input',
    )
    .action(
      act(async (called, operation: string, words: string[]) => {
        const input =
          words.length === 1 && words[0] === '-' ? objectOf(await readAll(called.terminal)) : inputOf(words)
        const client = await called.client()
        const answer = await client.callOperation({ name: operation, arguments: input })
        called.show(answer, (value) => JSON.stringify(value, null, 2))
      }),
    )
}

function inputOf(words: string[]): Record<string, unknown> {
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf('=')
      if (at < 1) throw new RefusedError(`"${word}" is no NAME=VALUE`, exitCodes.usage)
      return [word.slice(0, at), readValue(word.slice(at + 1))]
    }),
  )
}

function readValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function objectOf(text: string): Record<string, unknown> {
  const value = readValue(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new RefusedError('Standard input is no JSON object', exitCodes.usage)
}
