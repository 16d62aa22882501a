import type { SnapshotTaken } from '@coinrack/compute/ports/snapshot.ts'
import { assignments } from '../../database/columns.ts'
import type { Queryable, Transaction } from '../../database/transaction.ts'
import type { KeptSystem } from './kept-system.ts'
import type { SnapshotStatus } from './snapshot-state.ts'

/** Why the service takes one by itself: before what. Such a one is the disk itself, kept beside the machine. */
export type SnapshotReason = 'reinstall' | 'cancel'

export interface SnapshotRow {
  id: string
  vps_id: string
  name: string
  reason: SnapshotReason | null
  /** The system on the disk, of a snapshot with a reason. */
  system: KeptSystem | null
  include_memory: boolean
  status: SnapshotStatus
  consistency: SnapshotTaken['consistency'] | null
  failure_reason: string | null
  attempts: number
  created_at: Date
  expires_at: Date | null
}

const COLUMNS =
  'id, vps_id, name, reason, system, include_memory, status, consistency, failure_reason, attempts, created_at, expires_at'

export async function insertSnapshot(
  tx: Transaction,
  row: Pick<
    SnapshotRow,
    'id' | 'vps_id' | 'name' | 'reason' | 'system' | 'include_memory' | 'created_at' | 'expires_at'
  >,
): Promise<SnapshotRow> {
  const { rows } = await tx.query<SnapshotRow>(
    `insert into vps_snapshot (id, vps_id, name, reason, system, include_memory, status, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, 'creating', $7, $8) returning ${COLUMNS}`,
    [
      row.id,
      row.vps_id,
      row.name,
      row.reason,
      row.system,
      row.include_memory,
      row.created_at,
      row.expires_at,
    ],
  )
  return rows[0]!
}

/** Newest first, one more than `limit` when there are more. */
export async function snapshotsOf(
  db: Queryable,
  vpsId: string,
  { limit, cursor }: { limit: number; cursor?: string },
): Promise<SnapshotRow[]> {
  const { rows } = await db.query<SnapshotRow>(
    `select ${COLUMNS} from vps_snapshot
     where vps_id = $1 and status <> 'deleted' and ($3::text is null or id < $3) order by id desc limit $2`,
    [vpsId, limit + 1, cursor ?? null],
  )
  return rows
}

/** How many snapshots count against the plan, and whether one is in work. The machine must be locked. */
export async function snapshotLoad(
  tx: Transaction,
  vpsId: string,
): Promise<{ kept: number; isBusy: boolean }> {
  const { rows } = await tx.query<{ kept: number; busy: boolean }>(
    `select (count(*) filter (where status <> 'failed'))::int as kept,
       coalesce(bool_or(status in ('creating', 'restoring', 'deleting')), false) as busy
     from vps_snapshot where vps_id = $1 and status <> 'deleted' and reason is null`,
    [vpsId],
  )
  return { kept: rows[0]!.kept, isBusy: rows[0]!.busy }
}

export async function lockSnapshot(
  tx: Transaction,
  vpsId: string,
  id: string,
): Promise<SnapshotRow | undefined> {
  const { rows } = await tx.query<SnapshotRow>(
    `select ${COLUMNS} from vps_snapshot where vps_id = $1 and id = $2 and status <> 'deleted' for update`,
    [vpsId, id],
  )
  return rows[0]
}

export async function snapshotById(db: Queryable, id: string): Promise<SnapshotRow | undefined> {
  const { rows } = await db.query<SnapshotRow>(`select ${COLUMNS} from vps_snapshot where id = $1`, [id])
  return rows[0]
}

/** Changes one, unless its status is another by now. */
export async function setSnapshot(
  db: Queryable,
  id: string,
  from: SnapshotStatus,
  change: Partial<Pick<SnapshotRow, 'status' | 'consistency' | 'failure_reason' | 'attempts'>>,
): Promise<void> {
  await db.query(
    `update vps_snapshot set ${assignments(change, 3)}
     where id = $1 and status = $2`,
    [id, from, ...Object.values(change)],
  )
}

/** Whatever is in work on these hosts: inside machines that are there, and retained disks that are to go. Those move with their machine. */
export async function snapshotsInWork(db: Queryable, hosts: readonly string[]): Promise<SnapshotRow[]> {
  const { rows } = await db.query<SnapshotRow>(
    `select ${COLUMNS} from vps_snapshot
     where status in ('creating', 'restoring', 'deleting') and exists (
       select from vps_machine machine where machine.id = vps_id and host_id = any($1) and case when reason is null
         then wanted <> 'deleted'
         else vps_snapshot.status = 'deleting' end
     ) order by id`,
    [hosts],
  )
  return rows
}

/** Forgets the snapshots of machines that are gone, which had them inside. */
export async function forgetSnapshotsOfGone(db: Queryable): Promise<void> {
  await db.query(
    `update vps_snapshot set status = 'deleted'
     where status <> 'deleted' and reason is null
       and exists (select from vps where vps.id = vps_id and wanted = 'deleted')`,
  )
}

/** Forgets the snapshots that were inside a disk which the machine has no more. */
export async function forgetOwnSnapshots(tx: Transaction, vpsId: string): Promise<void> {
  await tx.query(
    `update vps_snapshot set status = 'deleted' where vps_id = $1 and status <> 'deleted' and reason is null`,
    [vpsId],
  )
}

/** Whatever was kept of a machine went with its host. */
export async function loseSnapshots(tx: Transaction, vpsId: string): Promise<void> {
  await forgetOwnSnapshots(tx, vpsId)
  await tx.query(
    `update vps_snapshot set status = case status when 'deleting' then 'deleted' else 'damaged' end,
       failure_reason = 'The host that it was on was lost'
     where vps_id = $1 and status in ('creating', 'ready', 'restoring', 'deleting')`,
    [vpsId],
  )
}

/** Keeps only the newest of the disks that are kept of a machine: with the next one there are two. */
export async function makeRoomForKept(tx: Transaction, vpsId: string): Promise<void> {
  await tx.query(
    `update vps_snapshot set status = 'deleting' where id in (
       select id from vps_snapshot where vps_id = $1 and reason is not null and status = 'ready'
       order by id desc offset 1)`,
    [vpsId],
  )
}

/** Wants those deleted whose time is over, one at a time for each machine. */
export async function expireSnapshots(db: Queryable, now: Date): Promise<void> {
  await db.query(
    `update vps_snapshot set status = 'deleting' where id in (
       select min(id) from vps_snapshot as old
       where expires_at <= $1 and status in ('ready', 'damaged', 'failed')
         and not exists (select from vps_snapshot as busy where busy.vps_id = old.vps_id
           and busy.status in ('creating', 'restoring', 'deleting'))
       group by vps_id)`,
    [now],
  )
}
