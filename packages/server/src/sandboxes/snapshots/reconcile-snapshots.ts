import { SandboxError } from '@coinrack/compute/ports/sandbox-runtime.ts'
import { announce } from '../../database/changes.ts'
import type { Services } from '../../platform/services.ts'
import { sandboxesOf } from '../life/placement.ts'
import { type SnapshotRow, setSnapshot, snapshotById, snapshotsInWork } from './snapshot-store.ts'

const MOST_ATTEMPTS = 3

/** Takes and removes the snapshots that are wanted so. Takes no input, and can be killed at any step. */
export function createSnapshotMaker(services: Services): {
  pass(): Promise<void>
  idle(): Promise<void>
  isBusy(): boolean
} {
  const busy = new Map<string, Promise<void>>()
  return {
    async pass() {
      for (const row of await snapshotsInWork(services.db)) {
        if (busy.has(row.id)) continue
        const work = stepSnapshot(services, row)
          .catch((error) =>
            services.log.error({ err: error, snapshot: row.id }, 'Working on a snapshot failed'),
          )
          .finally(() => busy.delete(row.id))
        busy.set(row.id, work)
      }
    },
    async idle() {
      await Promise.all(busy.values())
    },
    isBusy: () => busy.size > 0,
  }
}

/** Takes or removes one. May be done by two at once: the runtime does it once. */
export async function stepSnapshot(services: Services, row: SnapshotRow): Promise<void> {
  const { db } = services
  const { runtime } = sandboxesOf(services)
  if (row.status === 'deleting') {
    await runtime.removeSnapshot(row.id)
    await setSnapshot(db, row.id, ['deleting'], { status: 'deleted' })
  }
  if (row.status === 'creating') await takeSnapshot(services, row)
  await announce(db, row.id)
}

async function takeSnapshot(services: Services, row: SnapshotRow): Promise<void> {
  const { db, log } = services
  const { runtime } = sandboxesOf(services)
  try {
    const { bytes } = await runtime.takeSnapshot(row.sandbox_id, row.id)
    await setSnapshot(db, row.id, ['creating'], { status: 'ready', bytes: BigInt(bytes) })
    // A snapshot that was deleted meanwhile is no longer wanted.
    if (!(await snapshotById(db, row.id))) await runtime.removeSnapshot(row.id)
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error
    log.warn({ err: error, snapshot: row.id }, 'A snapshot of a sandbox could not be taken')
    const attempts = row.attempts + 1
    const isOver = error.code !== 'guest_failed' || attempts >= MOST_ATTEMPTS
    await setSnapshot(db, row.id, ['creating'], { attempts, ...(isOver && { status: 'failed' }) })
  }
}
