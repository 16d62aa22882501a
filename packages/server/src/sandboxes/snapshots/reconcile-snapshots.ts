import { SandboxError } from '@coinrack/compute/ports/sandbox-runtime.ts'
import { announce } from '../../database/changes.ts'
import type { Services } from '../../platform/services.ts'
import {
  forgetCopies,
  holdersOf,
  type SnapshotRow,
  setSnapshot,
  snapshotById,
  snapshotsInWork,
  straySnapshotsOn,
} from './snapshot-store.ts'

const MOST_ATTEMPTS = 3
const LOOK_MS = 60_000

/** Takes and removes the snapshots that are wanted so. Takes no input, and can be killed at any step. */
export function createSnapshotMaker(services: Services): {
  pass(): Promise<void>
  idle(): Promise<void>
  isBusy(): boolean
} {
  const { db, log, clock } = services
  const busy = new Map<string, Promise<void>>()
  const looking = new Map<string, Promise<void>>()
  let lookedAt = Number.NEGATIVE_INFINITY

  /** Removes files that hosts keep and no snapshot needs: those of one that was deleted while its host was away, for instance. */
  function removeStray(): void {
    const now = clock.now().getTime()
    if (now - lookedAt < LOOK_MS) return
    lookedAt = now
    for (const [hostId, { runtime }] of services.sandboxes) {
      if (looking.has(hostId)) continue
      const look = async () => {
        const ids = (await runtime.snapshots()).map(({ id }) => id)
        for (const id of await straySnapshotsOn(db, hostId, ids)) await runtime.removeSnapshot(id)
      }
      // A host that takes its time holds up nothing else.
      const work = look()
        .catch((error) => log.warn({ err: error, host: hostId }, 'Snapshots could not be looked through'))
        .finally(() => looking.delete(hostId))
      looking.set(hostId, work)
    }
  }

  return {
    async pass() {
      removeStray()
      for (const row of await snapshotsInWork(db)) {
        if (busy.has(row.id)) continue
        const work = stepSnapshot(services, row)
          .catch((error) => log.error({ err: error, snapshot: row.id }, 'Working on a snapshot failed'))
          .finally(() => busy.delete(row.id))
        busy.set(row.id, work)
      }
    },
    async idle() {
      await Promise.all([...busy.values(), ...looking.values()])
    },
    isBusy: () => busy.size > 0,
  }
}

/** Takes or removes one. May be done by two at once: its host does it once. */
export async function stepSnapshot(services: Services, row: SnapshotRow): Promise<void> {
  if (row.status === 'deleting') await removeSnapshot(services, row)
  if (row.status === 'creating') await takeSnapshot(services, row)
  await announce(services.db, row.id)
}

/** A host that cannot be reached removes its copy when it is back: it is nobody's then. */
async function removeSnapshot({ db, sandboxes }: Services, { id }: SnapshotRow): Promise<void> {
  for (const hostId of await holdersOf(db, id)) await sandboxes.get(hostId)?.runtime.removeSnapshot(id)
  await forgetCopies(db, id)
  await setSnapshot(db, id, ['deleting'], { status: 'deleted' })
}

async function takeSnapshot(services: Services, row: SnapshotRow): Promise<void> {
  const { db, log } = services
  const host = services.sandboxes.get(row.host_id)
  if (!host) return
  const { runtime, artifacts } = host
  try {
    const { bytes } = await runtime.takeSnapshot(row.sandbox_id, row.id)
    const artifact = await artifacts.describe(`snapshot:${row.id}`)
    await setSnapshot(db, row.id, ['creating'], { status: 'ready', bytes: BigInt(bytes), artifact })
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
