import { announce } from '../../database/changes.ts'
import { inTransaction, type Transaction } from '../../database/transaction.ts'
import { clusterOf } from '../../hosts/host-store.ts'
import { placeElsewhere } from '../../hosts/place-machine.ts'
import type { PassReport } from '../../platform/pass-report.ts'
import type { Services } from '../../platform/services.ts'
import { lockVps } from '../machine/vps-store.ts'
import { RECONCILE_VPS } from '../topics.ts'
import { endVoidMoves, lockMove, movesToPlace, updateMove } from './move-store.ts'

/** Machines that leave one host at the same moment: more would share what its disk and its network can carry. */
const AT_ONCE = 2
const AGAIN_MS = 30_000

/**
 * Takes a place on another host of its cluster for each machine that is wanted elsewhere, a few of each host at a time. Takes no
 * input, and may run in several processes at once.
 */
export async function placeMoves(services: Services): Promise<PassReport> {
  const { db, clock } = services
  await endVoidMoves(db)
  const waiting = await movesToPlace(db, clock.now(), AT_ONCE)
  let done = 0
  for (const { id } of waiting) if (await inTransaction(db, (tx) => placeMove(tx, services, id))) done++
  if (done > 0) await announce(db, RECONCILE_VPS)
  return { seen: waiting.length, done, failed: 0 }
}

/** @returns whether it has a place now */
async function placeMove(tx: Transaction, services: Services, id: string): Promise<boolean> {
  const row = await lockVps(tx, id)
  const move = await lockMove(tx, id)
  if (!move || move.to_host !== null || row.machine_gone_at !== null) return false
  const later = { due_at: new Date(services.clock.now().getTime() + AGAIN_MS) }
  const cluster = await clusterOf(tx, row.host_id)
  if (cluster === null || row.ipv4 === null) {
    const trouble = 'Only machines of a cluster that have an address of their own can move'
    await updateMove(tx, id, { ...later, trouble })
    return false
  }
  const found = await placeElsewhere(tx, services, {
    memory_mb: row.memory_mb,
    disk_gb: row.disk_gb,
    network: 'dedicated',
    ipv6: row.ipv6 !== null,
    cluster,
    ...(move.wanted_host !== null && { hostIds: [move.wanted_host] }),
    except: [row.host_id],
  })
  if (typeof found === 'string') {
    const { wanted_host } = move
    const trouble = wanted_host
      ? `${wanted_host} has no room for it now`
      : `No other host of ${cluster} has room for it now`
    await updateMove(tx, id, { ...later, trouble })
    return false
  }
  await updateMove(tx, id, { to_host: found.id, due_at: services.clock.now(), trouble: null })
  return true
}
