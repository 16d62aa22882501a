import { DriverError } from '@coinrack/compute/ports/vps-driver.ts'
import { announce } from '../../database/changes.ts'
import { hostOf, type Tended } from '../../platform/machine-host.ts'
import { createTally, type PassReport } from '../../platform/pass-report.ts'
import type { Services } from '../../platform/services.ts'
import { vpsById } from '../machine/vps-store.ts'
import { nextStatus, type SnapshotOutcome, workOf } from './snapshot-state.ts'
import {
  expireSnapshots,
  forgetSnapshotsOfGone,
  type SnapshotRow,
  setSnapshot,
  snapshotsInWork,
} from './snapshot-store.ts'

/** The reason that a customer is told: a driver's own words are about the operator's host. */
const FAILED = 'The host could not do it now'
const DAMAGED = 'The snapshot cannot be read; the VPS is as it was'
const NO_SPACE = 'The host had no room for it'

export interface SnapshotReconciler {
  /**
   * Begins whatever is to be done, one thing at a time for each machine.
   */
  pass(): Promise<PassReport>
  /** Resolves when nothing is being done any more. */
  idle(): Promise<void>
}

/**
 * Takes, restores and removes the snapshots that are wanted so. Takes no input, and can be killed at any step: the
 * driver's calls are repeatable, and a status changes only after its work is done.
 */
export function createSnapshotReconciler(
  services: Services,
  tended: Tended = () => [...services.hosts.keys()],
): SnapshotReconciler {
  const busy = new Map<string, Promise<void>>()
  const tally = createTally()
  return {
    async pass() {
      const { db, clock, log } = services
      await expireSnapshots(db, clock.now())
      await forgetSnapshotsOfGone(db)
      const rows = await snapshotsInWork(db, tended())
      for (const row of rows) {
        if (busy.has(row.vps_id)) continue
        const work = workOn(services, row)
          .then(tally.done)
          .catch((error) => {
            tally.failed()
            log.error({ err: error, snapshot: row.id }, 'Working on a snapshot failed')
          })
          .finally(() => busy.delete(row.vps_id))
        busy.set(row.vps_id, work)
      }
      return tally.report(rows.length, busy.size === 0)
    },
    async idle() {
      await Promise.all(busy.values())
    },
  }
}

async function workOn(services: Services, row: SnapshotRow): Promise<void> {
  const { db, log } = services
  const { id, vps_id, status } = row
  try {
    const consistency = await doWork(services, row)
    await setSnapshot(db, id, status, {
      status: nextStatus(status, 'done', row.attempts),
      ...(consistency ? { consistency } : {}),
      failure_reason: null,
      attempts: 0,
    })
  } catch (error) {
    if (!(error instanceof DriverError)) throw error
    log.warn({ err: error, vps: vps_id, snapshot: id }, `A snapshot could not be ${status}`)
    const [outcome, reason] = judge(error)
    const attempts = row.attempts + 1
    const next = nextStatus(status, outcome, attempts)
    // Whatever was made of it is not left behind.
    if (next === 'failed') await (await hostOfSnapshot(services, row)).snapshots.remove(vps_id, id)
    await setSnapshot(db, id, status, { status: next, failure_reason: reason, attempts })
  }
  await announce(db, vps_id)
}

const hostOfSnapshot = async (services: Services, { vps_id }: SnapshotRow) =>
  hostOf(services, await vpsById(services.db, vps_id))

async function doWork(services: Services, row: SnapshotRow) {
  const { id, vps_id, status, reason, include_memory } = row
  const { snapshots, retainedDisks } = await hostOfSnapshot(services, row)
  switch (workOf[status]) {
    case 'take':
      return (await snapshots.take(vps_id, id, { memory: include_memory })).consistency
    case 'restore':
      return void (await snapshots.restore(vps_id, id))
    case 'remove':
      return void (await (reason === null ? snapshots : retainedDisks).remove(vps_id, id))
  }
}

function judge({ code }: DriverError): [SnapshotOutcome, string] {
  if (code === 'snapshot_damaged' || code === 'snapshot_unknown') return ['damaged', DAMAGED]
  return ['failed', code === 'no_space' ? NO_SPACE : FAILED]
}
