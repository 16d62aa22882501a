import { DriverError, type VpsObservation } from '@coinrack/compute/ports/vps-driver.ts'
import { announce } from '../../database/changes.ts'
import { inTransaction } from '../../database/transaction.ts'
import { hostOf } from '../../platform/machine-host.ts'
import type { Services } from '../../platform/services.ts'
import { notifyOwner } from '../billing/notify-owner.ts'
import { updateMachine } from '../machine/machine-store.ts'
import { lockVps, type VpsRow } from '../machine/vps-store.ts'
import { RECONCILE_VPS } from '../topics.ts'
import { endMove, lockMove, updateMove } from './move-store.ts'

const AGAIN_MS = 60_000
const HOUR_MS = 3_600_000

/**
 * Moves a machine to the host that was chosen for it. Cut short or repeated, it is moved once: where it is by then is looked at
 * first. A refusal is written down, and tried again later.
 */
export async function moveVps(services: Services, row: VpsRow, seen: VpsObservation): Promise<void> {
  const { db, hosts, log } = services
  const { id, host_id: from } = row
  const to = hosts.get(row.move_to!)
  const source = hostOf(services, row).cluster
  try {
    if (!to?.cluster || to.cluster.name !== source?.name)
      throw new DriverError('unsupported', `The settings name no host ${row.move_to} of the same cluster`)
    await source.migration.move(id, to.cluster.member)
  } catch (error) {
    if (!(error instanceof DriverError)) throw error
    const hasNoDisk = error.code === 'machine_unknown' && row.status === 'reinstalling'
    if (!hasNoDisk) return postpone(services, row, seen, error)
  }
  await inTransaction(db, async (tx) => {
    const { host_id } = await lockVps(tx, id)
    if (host_id !== from) return
    await updateMachine(tx, id, { host_id: to!.id, ...(seen.state !== 'running' && { ssh_ready: false }) })
    await endMove(tx, id)
    await announce(tx, id)
    await announce(tx, RECONCILE_VPS)
  })
  log.info({ vps: id, from, to: to!.id }, 'A machine was moved')
}

/**
 * Gives its place back: the next try may be on another host. Where the machine can be moved only while it is stopped, and may be, its
 * owner is told when that will be.
 */
async function postpone(
  services: Services,
  { id }: VpsRow,
  { state }: VpsObservation,
  error: DriverError,
): Promise<void> {
  const { db, clock, log } = services
  log.warn({ err: error, vps: id }, 'A machine could not be moved; it is tried again')
  await inTransaction(db, async (tx) => {
    const row = await lockVps(tx, id)
    const move = await lockMove(tx, id)
    if (!move) return
    const now = clock.now()
    const later = { to_host: null, trouble: error.message }
    const mayStop = error.code === 'unsupported' && state === 'running' && move.notice_hours !== null
    if (!mayStop) return updateMove(tx, id, { ...later, due_at: new Date(now.getTime() + AGAIN_MS) })
    const stop_from = move.stop_from ?? new Date(now.getTime() + move.notice_hours! * HOUR_MS)
    await updateMove(tx, id, { ...later, due_at: stop_from, stop_from })
    if (move.stop_from === null)
      await notifyOwner(tx, services, row, { kind: 'maintenance', from: stop_from })
  })
}
