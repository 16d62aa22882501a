import { readFile } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { Option } from 'commander'
import type { AddCommands } from '../add-command.ts'
import { readAll } from '../ask.ts'
import type { Call } from '../call.ts'
import { exitCodes, RefusedError } from '../exit-codes.ts'
import { inSandbox, type WhichSandbox } from '../in-sandbox.ts'
import { number } from '../number-option.ts'
import { orNotRun } from '../or-not-run.ts'
import { withSandboxOptions } from '../sandbox-options.ts'
import { afterDashes, shellWord } from '../shell-words.ts'
import { writeTo } from '../write-to.ts'
import { exitCodeOfProgram } from './exec.ts'

type Language = 'python' | 'node' | 'bash'

interface Options extends WhichSandbox {
  language?: Language
  timeout: number
  stdin?: boolean
}

const PROGRAMS: Record<Language, { program: string; file: string }> = {
  python: { program: 'python3', file: 'main.py' },
  node: { program: 'node', file: 'main.mjs' },
  bash: { program: 'bash', file: 'main.sh' },
}
const LANGUAGES: Record<string, Language> = {
  '.py': 'python',
  '.js': 'node',
  '.mjs': 'node',
  '.cjs': 'node',
  '.ts': 'node',
  '.sh': 'bash',
}

export const run: AddCommands = (program, act) => {
  withSandboxOptions(
    program
      .command('run')
      .description('run a script in a new sandbox, which ends with it; ends with its exit code')
      .argument('<file>', '- for standard input')
      .argument('[words...]', 'arguments of the script')
      .addOption(
        new Option('--language <name>', 'by default that of the file name').choices(Object.keys(PROGRAMS)),
      )
      .option('--timeout <seconds>', 'how long it may run', number, 300)
      .option('--sandbox <id>', 'in this sandbox, which stays')
      .option('--keep', 'keep the new sandbox, and show its identifier')
      .option('-i, --stdin', 'give it standard input, up to 256 KiB')
      .passThroughOptions(),
  ).action(
    act((call, file: string, words: string[], options: Options) =>
      orNotRun(() => runFile(call, file, words, options)),
    ),
  )
}

async function runFile(call: Call, file: string, words: string[], options: Options): Promise<number> {
  const { stdout, stderr, signal } = call.terminal
  const language = options.language ?? LANGUAGES[extname(file)]
  if (!language)
    throw new RefusedError(
      `The language of ${file} is not known: give --language python, node or bash`,
      exitCodes.usage,
    )
  const code = file === '-' ? await readAll(call.terminal) : await readScript(file)
  const name = file === '-' ? PROGRAMS[language].file : basename(file)
  const stdin = options.stdin && file !== '-' ? await readAll(call.terminal) : undefined
  return inSandbox(call, options, async (sandbox) => {
    await sandbox.files.write(name, code, { signal })
    const command = [PROGRAMS[language].program, name, ...afterDashes(words)].map(shellWord).join(' ')
    const ended = await sandbox.exec(command, {
      timeout: options.timeout,
      signal,
      ...(stdin !== undefined && { stdin }),
      ...(!call.isJson && {
        onStdout: (text: string) => writeTo(stdout, text),
        onStderr: (text: string) => writeTo(stderr, text),
      }),
    })
    if (call.isJson) call.show({ ...ended, sandbox_id: sandbox.id }, () => '')
    return exitCodeOfProgram(call, ended)
  })
}

const readScript = (file: string) =>
  readFile(file).catch((error: Error) => {
    throw new RefusedError(`Cannot read ${file}: ${error.message}`, exitCodes.usage)
  })
