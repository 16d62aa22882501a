import type { Sandbox } from '@coinrack/sdk/index.ts'
import type { AddCommands } from '../add-command.ts'
import { readAll } from '../ask.ts'
import type { Call } from '../call.ts'
import { inSandbox, type WhichSandbox } from '../in-sandbox.ts'
import { orNotRun } from '../or-not-run.ts'
import { withRawInput } from '../raw-input.ts'
import { withSandboxOptions } from '../sandbox-options.ts'
import { writeTo } from '../write-to.ts'
import { exitCodeOfProgram } from './exec.ts'

export const shell: AddCommands = (program, act) => {
  withSandboxOptions(
    program
      .command('shell')
      .description('open a shell in a sandbox, or in a new one, which ends with it')
      .argument('[sandbox]')
      .option('--keep', 'keep the new sandbox, and show its identifier'),
  ).action(
    act((call, sandbox: string | undefined, options: WhichSandbox) =>
      orNotRun(() =>
        inSandbox(call, { ...options, ...(sandbox !== undefined && { sandbox }) }, (opened) =>
          (call.terminal.stdin.isTTY ? atTerminal : fromPipe)(call, opened),
        ),
      ),
    ),
  )
}

/** Without a terminal: what standard input says is run, and its output comes as it is written. */
async function fromPipe(call: Call, sandbox: Sandbox): Promise<number> {
  const { stdout, stderr, signal } = call.terminal
  const ended = await sandbox.exec('bash -s', {
    stdin: await readAll(call.terminal),
    timeout: LONGEST_S,
    onStdout: (text) => writeTo(stdout, text),
    onStderr: (text) => writeTo(stderr, text),
    signal,
  })
  return exitCodeOfProgram(call, ended)
}

const LONGEST_S = 86_400

/** A terminal of the sandbox on this one. */
async function atTerminal(call: Call, sandbox: Sandbox): Promise<number> {
  const { stdout, env, signal } = call.terminal
  const size = () => ({ columns: stdout.columns ?? 80, rows: stdout.rows ?? 24 })
  const task = await sandbox.start('bash -l', {
    terminal: size(),
    env: { TERM: env.TERM || 'xterm-256color' },
  })
  const typing = createTyping((text) => task.write(text, { signal }))
  const resize = () => void task.resize(size()).catch(() => {})
  stdout.on('resize', resize)
  try {
    const ended = task.wait({ onStdout: (text) => writeTo(stdout, text), signal })
    return exitCodeOfProgram(call, await withRawInput(call.terminal, typing, ended))
  } catch (error) {
    await task.kill('SIGHUP').catch(() => {})
    throw error
  } finally {
    stdout.off('resize', resize)
  }
}

/** Sends what is typed in its order, one call at a time; what is typed meanwhile goes with the next. */
function createTyping(send: (text: string) => Promise<void>): (text: string) => void {
  let waiting = ''
  let isSending = false
  return (text) => {
    waiting += text
    if (isSending) return
    isSending = true
    void (async () => {
      try {
        while (waiting !== '') {
          const next = waiting
          waiting = ''
          await send(next)
        }
      } catch {
        // The shell has ended, which its follower says.
      } finally {
        isSending = false
      }
    })()
  }
}
