import { Sandbox, Vps } from '@coinrack/sdk/index.ts'
import type { AddCommands } from '../add-command.ts'
import { readAll } from '../ask.ts'
import type { Call } from '../call.ts'
import { exitCodes } from '../exit-codes.ts'
import { findVps, isSandbox } from '../find.ts'
import { number } from '../number-option.ts'
import { orNotRun } from '../or-not-run.ts'
import { afterDashes, commandLine } from '../shell-words.ts'
import { writeTo } from '../write-to.ts'

interface Options {
  cwd?: string
  timeout?: number
  stdin?: boolean
}

export const exec: AddCommands = (program, act) => {
  program
    .command('exec')
    .description('run a command in a VPS (as root, by its guest agent) or a sandbox; ends with its exit code')
    .argument('<name>')
    .argument('<command...>')
    .option('--cwd <folder>', 'where it runs')
    .option('--timeout <seconds>', 'how long it may run, in a VPS at most 50', number)
    .option('-i, --stdin', 'give it standard input, up to 256 KiB')
    .passThroughOptions()
    .action(
      act((call, name: string, words: string[], options: Options) =>
        orNotRun(() =>
          (isSandbox(name) ? inSandbox : inVps)(call, name, commandLine(afterDashes(words)), options),
        ),
      ),
    )
}

async function inVps(call: Call, name: string, command: string, { cwd, timeout, stdin }: Options) {
  const vps = await findVps(await call.client(), name)
  const ended = await Vps.connect(await call.service(), vps.id).exec(command, {
    ...(cwd !== undefined && { cwd }),
    ...(timeout !== undefined && { timeout }),
    ...(stdin && { input: await readAll(call.terminal) }),
  })
  if (call.isJson) call.show(ended, () => '')
  else {
    await writeTo(call.terminal.stdout, ended.stdout)
    await writeTo(call.terminal.stderr, ended.stderr)
  }
  return exitCodeOfProgram(call, ended)
}

async function inSandbox(call: Call, id: string, command: string, { cwd, timeout, stdin }: Options) {
  const { stdout, stderr, signal } = call.terminal
  const ended = await Sandbox.connect(await call.service(), id).exec(command, {
    ...(cwd !== undefined && { cwd }),
    ...(timeout !== undefined && { timeout }),
    ...(stdin && { stdin: await readAll(call.terminal) }),
    ...(!call.isJson && {
      onStdout: (text: string) => writeTo(stdout, text),
      onStderr: (text: string) => writeTo(stderr, text),
    }),
    signal,
  })
  if (call.isJson) call.show(ended, () => '')
  return exitCodeOfProgram(call, ended)
}

/** As `timeout` of coreutils ends when the time was over. */
const TIMED_OUT = 124

/** The exit code of a program that ran elsewhere. */
export function exitCodeOfProgram(
  call: Call,
  ended: { exit_code: number | null; timed_out: boolean },
): number {
  if (ended.timed_out) call.say('It was ended by its timeout')
  return ended.timed_out ? TIMED_OUT : (ended.exit_code ?? exitCodes.refused)
}
