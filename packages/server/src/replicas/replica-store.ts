import type { Queryable } from '../database/transaction.ts'
import { LOCAL_HOST } from '../platform/machine-host.ts'

/** How long after its last sign of life a replica counts as gone, in seconds of the database's clock. */
const GONE_SECONDS = 15

/** A process of the service that runs. */
export interface Replica {
  /** Another one after each start. */
  id: string
  /** Where other replicas reach it, as `host:port`; see `transport/replica-link.ts`. */
  address: string
  version: string
}

/** Writes down that a replica runs. Repeat it several times within 15 seconds. */
export async function noteReplica(db: Queryable, { id, address, version }: Replica): Promise<void> {
  await db.query(
    `insert into replica (id, address, version) values ($1, $2, $3)
     on conflict (id) do update set seen_at = clock_timestamp()`,
    [id, address, version],
  )
}

/** Writes down that this replica tends the machines of the data folder, and so no other does. */
export async function noteTending(db: Queryable, { id, address, version }: Replica): Promise<void> {
  await db.query('update replica set tends_local = false where tends_local and id <> $1', [id])
  await db.query(
    `insert into replica (id, address, version, tends_local) values ($1, $2, $3, true)
     on conflict (id) do update set tends_local = true, seen_at = clock_timestamp()`,
    [id, address, version],
  )
}

/** Removes a replica that ends, and those that were killed. */
export async function forgetReplicas(db: Queryable, ended: string | null): Promise<void> {
  await db.query(
    `delete from replica where id = $1 or seen_at < clock_timestamp() - $2 * interval '1 second'`,
    [ended, GONE_SECONDS],
  )
}

/** The replicas that run, the oldest first. One that was killed is among them for up to 15 seconds. */
export async function currentReplicas(
  db: Queryable,
): Promise<(Replica & { tendsLocal: boolean; startedAt: Date })[]> {
  const { rows } = await db.query<Replica & { tendsLocal: boolean; startedAt: Date }>(
    `select id, address, version, tends_local as "tendsLocal", started_at as "startedAt" from replica
     where seen_at >= clock_timestamp() - $1 * interval '1 second' order by started_at, id`,
    [GONE_SECONDS],
  )
  return rows
}

/** Whether one of these VPS has its machine where the replica is that tends the machines of the data folder. */
export async function hasLocalMachine(db: Queryable, vpsIds: readonly string[]): Promise<boolean> {
  const { rowCount } = await db.query('select from vps_machine where id = any($1) and host_id = $2 limit 1', [
    vpsIds,
    LOCAL_HOST,
  ])
  return rowCount === 1
}
