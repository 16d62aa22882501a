import { setTimeout as sleep } from 'node:timers/promises'
import type { RunAs } from '@coinrack/host/as-user.ts'
import { CommandError, runCommand } from '@coinrack/host/run-command.ts'
import { type Monitor, withMonitor } from '../machine/monitor.ts'
import { DriverError } from '../ports/vps-driver.ts'

/*
 * Snapshots inside a machine's qcow2 file: by QEMU while it runs, by qemu-img while it does not.
 */

/** Memory is written at the pace of the host's disk, while the machine stands still. */
const LONGEST_MS = 10 * 60_000
const POLL_MS = 50

interface BlockDevice {
  device: string
  inserted?: { 'node-name': string }
}
interface Job {
  id: string
  type: string
  status: string
  error?: string
}

/** Talks to a machine that runs, also while it is slow to answer. */
export const withPatience = <T>(monitor: string, use: (monitor: Monitor) => Promise<T>) =>
  withMonitor(monitor, use, { timeoutMs: 60_000 })

/** Saves or loads disk and memory as one. Throws `guest_failed` with QEMU's reason. */
export async function runSnapshotJob(
  monitor: Monitor,
  kind: 'snapshot-save' | 'snapshot-load',
  tag: string,
): Promise<void> {
  const blocks = await monitor.execute<BlockDevice[]>('query-block')
  const node = blocks.find(({ device }) => device === 'root')?.inserted?.['node-name']
  if (!node) throw new DriverError('guest_failed', 'The machine has no root disk')
  await monitor.execute(kind, { 'job-id': `${kind}-${tag}`, tag, vmstate: node, devices: [node] })
  const failure = await settleJobs(monitor)
  if (failure) throw new DriverError('guest_failed', `${kind} of ${tag}: ${failure}`)
}

/**
 * Waits for the snapshot jobs that are under way, those of an earlier process as well, and lets QEMU forget them.
 * @returns why one of them failed
 */
export async function settleJobs({ execute }: Monitor): Promise<string | undefined> {
  let failure: string | undefined
  for (let waited = 0; waited < LONGEST_MS; waited += POLL_MS) {
    const jobs = (await execute<Job[]>('query-jobs')).filter(({ type }) => type.startsWith('snapshot-'))
    for (const { id, error } of jobs.filter(({ status }) => status === 'concluded')) {
      failure ??= error
      await execute('job-dismiss', { id })
    }
    if (jobs.every(({ status }) => status === 'concluded')) return failure
    await sleep(POLL_MS)
  }
  throw new DriverError('guest_failed', 'A snapshot does not come to an end')
}

/** Works on the disk of a machine that does not run. Throws `guest_failed`. */
export async function changeSnapshot(
  disk: string,
  action: 'create' | 'apply' | 'delete',
  tag: string,
  user: RunAs | undefined,
): Promise<void> {
  const flag = { create: '-c', apply: '-a', delete: '-d' }[action]
  const args = ['snapshot', '-q', flag, tag, disk]
  await runCommand('qemu-img', args, { user, timeoutMs: LONGEST_MS }).catch((error) => {
    throw new DriverError('guest_failed', `qemu-img could not ${action} ${tag}`, { cause: error })
  })
}

/** The snapshots in the disk. The machine may run. */
export async function tagsIn(disk: string, user: RunAs | undefined): Promise<string[]> {
  const info = ['info', '-U', '--output=json', '-f', 'qcow2', disk]
  const { stdout } = await runCommand('qemu-img', info, { user })
  const { snapshots = [] } = JSON.parse(stdout) as { snapshots?: { name: string }[] }
  return snapshots.map(({ name }) => name)
}

/** Whether every table of the disk, those of its snapshots included, is as it should be. The machine must hold still. */
export async function isSound(disk: string, user: RunAs | undefined): Promise<boolean> {
  const check = ['check', '-q', '-U', '-f', 'qcow2', disk]
  try {
    await runCommand('qemu-img', check, { user, timeoutMs: LONGEST_MS })
    return true
  } catch (error) {
    if (!(error instanceof CommandError) || error.exitCode === null) throw error
    return error.exitCode === ONLY_LEAKS
  }
}

/** Unused space that a kill in the middle of a write leaves behind does no harm. */
const ONLY_LEAKS = 3
