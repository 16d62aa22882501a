import { setTimeout as sleep } from 'node:timers/promises'
import { NeverError, Sandbox, Vps } from '@coinrack/sdk/index.ts'
import type { AddCommands } from '../add-command.ts'
import type { Call } from '../call.ts'
import { all } from '../collect.ts'
import { exitCodes, RefusedError } from '../exit-codes.ts'
import { findVps, isSandbox } from '../find.ts'
import { number } from '../number-option.ts'
import { shellWord } from '../shell-words.ts'
import { writeTo } from '../write-to.ts'

interface Options {
  lines: number
  unit?: string
  follow?: boolean
}

export const logs: AddCommands = (program, act) => {
  program
    .command('logs')
    .description('show the journal of a VPS, or what a background task of a sandbox wrote')
    .argument('<name>')
    .argument('[task]', 'of a sandbox; by default the newest')
    .option('-n, --lines <count>', 'how many of the journal', number, 100)
    .option('-u, --unit <name>', 'only those of one service of systemd')
    .option('-f, --follow', 'go on until interrupted, or until the task has ended')
    .action(
      act((call, name: string, task: string | undefined, options: Options) =>
        isSandbox(name) ? ofSandbox(call, name, task, options) : ofVps(call, name, options),
      ),
    )
}

const LOOK_MS = 2_000
/** Ends what `journalctl --show-cursor` writes; with the cursor the next call goes on. */
const CURSOR = /^-- cursor: (.+)\n?$/m

async function ofVps(call: Call, name: string, { lines, unit, follow }: Options): Promise<void> {
  const { id } = await findVps(await call.client(), name)
  const vps = Vps.connect(await call.service(), id)
  const base = ['journalctl', '--no-pager', '--quiet', '--show-cursor', ...(unit ? ['--unit', unit] : [])]
  let words = [...base, '--lines', String(lines)]
  for (;;) {
    const { stdout, stderr, exit_code } = await vps.exec(words.map(shellWord).join(' '), {
      signal: call.terminal.signal,
    })
    if (exit_code !== 0)
      throw new NeverError(`The journal cannot be read: ${stderr.trim() || `exit code ${exit_code}`}`)
    const text = stdout.replace(CURSOR, '')
    if (call.isJson && !follow) return call.show({ lines: text.split('\n').slice(0, -1) }, () => text)
    await writeTo(call.terminal.stdout, text)
    if (!follow) return
    const cursor = CURSOR.exec(stdout)?.[1]
    if (cursor !== undefined) words = [...base, '--after-cursor', cursor]
    await sleep(LOOK_MS, undefined, { signal: call.terminal.signal })
  }
}

async function ofSandbox(
  call: Call,
  id: string,
  taskId: string | undefined,
  { follow }: Options,
): Promise<void> {
  const sandbox = Sandbox.connect(await call.service(), id)
  const chosen = taskId ?? (await newestTask(sandbox))
  const task = sandbox.task(chosen)
  const { stdout, stderr, signal } = call.terminal
  if (!follow) {
    const read = await task.read()
    call.show(read, () => '')
    if (call.isJson) return
    await writeTo(stdout, read.stdout)
    await writeTo(stderr, read.stderr)
    return
  }
  await task.wait({
    onStdout: (text) => writeTo(stdout, text),
    onStderr: (text) => writeTo(stderr, text),
    signal,
  })
}

async function newestTask(sandbox: Sandbox): Promise<string> {
  const tasks = await all(sandbox.client.listTasks.all({ sandbox_id: sandbox.id }))
  const [newest] = tasks.sort((a, b) => b.started_at.getTime() - a.started_at.getTime())
  if (!newest) throw new RefusedError('No task runs in the background of this sandbox', exitCodes.unknown)
  return newest.id
}
