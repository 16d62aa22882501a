import type { HostInventory } from '@coinrack/compute/ports/vps-driver.ts'
import type { Queryable, Transaction } from '../database/transaction.ts'
import type { HostNetwork, MachineHost } from '../platform/machine-host.ts'
import { featureNames } from './features.ts'

export type HostState = 'open' | 'draining'

/** The known facts about a host. The sizes are null until it has answered for the first time. */
export interface HostRow {
  id: string
  kind: string
  region: string
  state: HostState
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
  'id, kind, region, state, vcpus, memory_mb, disk_gb, features, seen_at, trouble, tended_by, tended_until'

export async function hostRows(db: Queryable): Promise<HostRow[]> {
  const { rows } = await db.query<HostRow>(`select ${COLUMNS} from host order by id`)
  return rows
}

/** Writes down which hosts there are: one that has said nothing yet can already be named. */
export async function registerHosts(db: Queryable, hosts: Iterable<MachineHost>): Promise<void> {
  for (const { id, kind, region } of hosts)
    await db.query('insert into host (id, kind, region) values ($1, $2, $3) on conflict (id) do nothing', [
      id,
      kind,
      region,
    ])
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
       images = $8, used_ports = $9, seen_at = $10, trouble = null`,
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

/** @returns false when there is no such host */
export async function setHostState(db: Queryable, id: string, state: HostState): Promise<boolean> {
  const { rowCount } = await db.query('update host set state = $2 where id = $1', [id, state])
  return rowCount === 1
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
