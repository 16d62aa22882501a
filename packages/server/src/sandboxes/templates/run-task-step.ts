import { setTimeout as pass } from 'node:timers/promises'
import type { SandboxChannel, TaskEnd, TaskRequest } from '@coinrack/compute/ports/sandbox-channel.ts'
import { inTransaction } from '../../database/transaction.ts'
import { textOf, wholeBytes } from '../../platform/text-bytes.ts'
import type { BuildLog } from './build-log.ts'
import type { BuildRow } from './build-store.ts'
import { updateBuild } from './build-store.ts'

const WAIT_MS = 5_000
/** What comes within so long is written down together. */
const BATCH_MS = 100

/** Where a task runs. */
export interface TaskOfBuild {
  channel: SandboxChannel
  sandboxId: string
  taskId: string
}

/**
 * Runs a task of a build to its end, and writes what it says to the log. A task that runs already, since this process is not
 * the one that began it, is read on where the log ends. It is known afterwards, so that it is not run twice.
 * @param build `read_stdout` and `read_stderr` say how much of it is in the log
 */
export async function followTask(
  { channel: { tasks }, sandboxId, taskId }: TaskOfBuild,
  request: TaskRequest,
  build: Pick<BuildRow, 'id' | 'read_stdout' | 'read_stderr'>,
  log: BuildLog,
): Promise<TaskEnd> {
  let from = { stdout: Number(build.read_stdout), stderr: Number(build.read_stderr) }
  await tasks.start(sandboxId, taskId, { ...request, overflow: 'wait' })
  for (;;) {
    const { stdout, stderr, next, end } = await tasks.read(sandboxId, taskId, from, { waitMs: WAIT_MS })
    // Whole characters alone, unless nothing more comes.
    const out = end ? stdout : stdout.subarray(0, wholeBytes(stdout))
    const err = end ? stderr : stderr.subarray(0, wholeBytes(stderr))
    const read = {
      stdout: next.stdout - (stdout.length - out.length),
      stderr: next.stderr - (stderr.length - err.length),
    }
    const lines = [
      { stream: 'stdout' as const, text: textOf(out) },
      { stream: 'stderr' as const, text: textOf(err) },
    ].filter(({ text }) => text !== '')
    if (read.stdout > from.stdout || read.stderr > from.stderr)
      await inTransaction(log.db, async (tx) => {
        await log.add(tx, lines)
        await updateBuild(tx, build.id, {
          read_stdout: BigInt(read.stdout),
          read_stderr: BigInt(read.stderr),
        })
      })
    from = read
    log.demandGoOn()
    if (end) return end
    if (lines.length > 0) await pass(BATCH_MS)
  }
}
