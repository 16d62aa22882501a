import type { HostInventory } from '@coinrack/compute/ports/vps-driver.ts'
import type { Queryable, Transaction } from '../database/transaction.ts'
import type { HostNetwork, MachineHost } from '../platform/machine-host.ts'
import { featureNames } from './features.ts'

/**
 * `draining`: nothing new is placed there. `evacuating`: its machines move to other hosts of its cluster as well. `dead`: by the
 * operator's word its power is off for good.
 */
export type HostState = 'open' | 'draining' | 'evacuating' | 'dead'

/** The known facts about a host. The sizes are null until it has answered for the first time. */
export interface HostRow {
  id: string
  kind: string
  region: string
  state: HostState
  /** Its machines can move to the other hosts of it. */
  cluster: string | null
  /** While it is evacuated: how long before owners are told of a stop; null: no machine is stopped for it. */
  notice_hours: number | null
  vcpus: number | null
  memory_mb: number | null
  disk_gb: number | null
  features: string[]
  seen_at: Date | null
  trouble: string | null
  /** The process that tends a remote host, and until when. */
  tended_by: string | null
  tended_until: Date | null
}

const COLUMNS =
  'id, kind, region, state, cluster, notice_hours, vcpus, memory_mb, disk_gb, features, seen_at, trouble, tended_by, tended_until'

export async function hostRows(db: Queryable): Promise<HostRow[]> {
  const { rows } = await db.query<HostRow>(`select ${COLUMNS} from host order by id`)
  return rows
}

/** Writes down which hosts there are: one that has said nothing yet can already be named. */
export async function registerHosts(db: Queryable, hosts: Iterable<MachineHost>): Promise<void> {
  for (const { id, kind, region, cluster } of hosts)
    await db.query(
      `insert into host (id, kind, region, cluster) values ($1, $2, $3, $4)
       on conflict (id) do update set cluster = $4 where host.cluster is distinct from $4`,
      [id, kind, region, cluster?.name ?? null],
    )
}

/** The kind of a host that runs sandboxes alone, and joins by itself. */
export const SANDBOX_HOST = 'sandboxes'

/** Writes down that a machine has joined as a host of sandboxes; one that drained, or was forgotten, is open again. */
export async function registerSandboxHost(tx: Transaction, id: string): Promise<void> {
  await tx.query(
    `insert into host (id, kind, region) values ($1, $2, '')
     on conflict (id) do update set state = 'open', notice_hours = null, forgotten_at = null`,
    [id, SANDBOX_HOST],
  )
}

/** Writes down what a host of sandboxes said of itself. */
export async function saveCapacity(
  db: Queryable,
  id: string,
  { vcpus, memoryMb, diskGb }: { vcpus: number; memoryMb: number; diskGb: number },
  at: Date,
): Promise<void> {
  await db.query(
    `update host set vcpus = $2, memory_mb = $3, disk_gb = $4, seen_at = $5, trouble = null
     where id = $1 and kind = $6`,
    [id, Math.floor(vcpus), Math.floor(memoryMb), Math.floor(diskGb), at, SANDBOX_HOST],
  )
}

/** Writes down which hosts of sandboxes cannot be reached: all but these. */
export async function saveAway(db: Queryable, reached: readonly string[]): Promise<void> {
  await db.query(
    `update host set trouble = 'it is not connected to the service'
     where kind = $2 and id <> all($1) and forgotten_at is null and trouble is null`,
    [reached, SANDBOX_HOST],
  )
}

/** Those of the hosts that the operator has given up, or forgotten. */
export async function givenUp(db: Queryable, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>(
    `select id from host where id = any($1) and (state = 'dead' or forgotten_at is not null)`,
    [ids],
  )
  return new Set(rows.map(({ id }) => id))
}

/** The hosts other than these that machines are on, with how many. */
export async function unknownHosts(
  db: Queryable,
  known: readonly string[],
): Promise<{ id: string; machines: number }[]> {
  const { rows } = await db.query<{ id: string; machines: number }>(
    `select host_id as id, count(*)::int as machines from vps_machine
     where machine_gone_at is null and host_id <> all($1) group by 1 order by 1`,
    [known],
  )
  return rows
}

/** Writes down what a host said of itself. It was open before anybody had heard of it. */
export async function saveInventory(
  db: Queryable,
  { id, kind, region }: Pick<MachineHost, 'id' | 'kind' | 'region'>,
  { capacity, features, images, usedPorts }: HostInventory,
  at: Date,
): Promise<void> {
  await db.query(
    `insert into host (id, kind, region, vcpus, memory_mb, disk_gb, features, images, used_ports, seen_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (id) do update set kind = $2, region = $3, vcpus = $4, memory_mb = $5, disk_gb = $6, features = $7,
       images = $8, used_ports = $9, seen_at = $10, trouble = null, forgotten_at = null`,
    [
      id,
      kind,
      region,
      capacity.vcpus,
      capacity.memoryMb,
      capacity.diskGb,
      featureNames(features),
      JSON.stringify(images),
      usedPorts,
      at,
    ],
  )
}

/** Writes down why a host could not be asked: until it answers again, nothing is placed on it. */
export async function saveTrouble(
  db: Queryable,
  { id, kind, region }: Pick<MachineHost, 'id' | 'kind' | 'region'>,
  trouble: string,
): Promise<void> {
  await db.query(
    `insert into host (id, kind, region, trouble) values ($1, $2, $3, $4)
     on conflict (id) do update set trouble = $4`,
    [id, kind, region, trouble],
  )
}

/**
 * @param noticeHours of a host that is evacuated, how long before owners are told of a stop; null: no machine is stopped
 * @returns false when there is no such host
 */
export async function setHostState(
  db: Queryable,
  id: string,
  state: HostState,
  noticeHours: number | null = null,
): Promise<boolean> {
  const { rowCount } = await db.query('update host set state = $2, notice_hours = $3 where id = $1', [
    id,
    state,
    noticeHours,
  ])
  return rowCount === 1
}

/** Those of the hosts on which new things are placed. */
export async function openHosts(db: Queryable, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>(
    `select id from host where id = any($1) and state = 'open'`,
    [ids],
  )
  return new Set(rows.map(({ id }) => id))
}

/** The cluster that a host is in; null for one that is in none. */
export async function clusterOf(db: Queryable, id: string): Promise<string | null> {
  const { rows } = await db.query<{ cluster: string | null }>('select cluster from host where id = $1', [id])
  return rows[0]?.cluster ?? null
}

/** Shows a host no more, which has to have nothing on it: what was there in the past keeps its name. */
export async function forgetHost(tx: Transaction, id: string, at: Date): Promise<void> {
  await tx.query('delete from orphan where host_id = $1', [id])
  await tx.query('update host set forgotten_at = $2 where id = $1', [id, at])
}

/** No host has this image any more, until one says that it does. */
export async function forgetImage(db: Queryable, slug: string): Promise<void> {
  await db.query(
    `update host set images = (
       select coalesce(jsonb_agg(image), '[]') from jsonb_array_elements(images) image where image ->> 'slug' <> $1
     )`,
    [slug],
  )
}

/** Any number: together with a host it names the lock for placing something there. */
const PLACEMENT_LOCK = 7_266_343

/** Gives the addresses of a pool that several hosts share one at a time; the lock of the host is held already. */
export async function lockAddresses(tx: Transaction, { sharedPool }: HostNetwork): Promise<void> {
  if (sharedPool === undefined) return
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`addresses:${sharedPool}`])
}

/** Places one at a time on a host, on all replicas, until the transaction or its savepoint ends. */
export async function lockHost(tx: Transaction, hostId: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1, hashtext($2))', [PLACEMENT_LOCK, hostId])
}
