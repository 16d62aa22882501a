import type { Queryable } from '../database/transaction.ts'
import type { HostRow } from './host-store.ts'

/** A host, with how much is promised of it: what sandboxes may use is counted in full. */
export interface HostOverview extends HostRow {
  machines: number
  sandboxes: number
  memory_taken_mb: number
  disk_taken_gb: number
  /** Machines that belong to no VPS, and are destroyed a day after they were found. */
  orphans: number
}

/** Every host that was heard of and not forgotten, for the operator. */
export async function allHosts(db: Queryable): Promise<HostOverview[]> {
  const { rows } = await db.query<HostOverview>(
    `select host.id, kind, region, state, cluster, notice_hours, vcpus, host.memory_mb, host.disk_gb, features, seen_at, trouble, tended_by, tended_until,
       count(there.id) filter (where there.is_machine)::int as machines,
       count(there.id) filter (where not there.is_machine)::int as sandboxes,
       coalesce(sum(there.memory_mb), 0)::int as memory_taken_mb, coalesce(sum(there.disk_gb), 0)::int as disk_taken_gb,
       (select count(*)::int from orphan where orphan.host_id = host.id) as orphans
     from host left join (
       select id, host_id, memory_mb, disk_gb, true as is_machine from vps_machine where machine_gone_at is null
       union all
       select id, host_id, case when state = 'paused' then 0 else memory_mb end, disk_gb, false from sandbox where gone_at is null
     ) there on there.host_id = host.id
     where forgotten_at is null
     group by host.id order by host.id`,
  )
  return rows
}

export interface MachineThere {
  id: string
  account_id: string
  hostname: string
  product: string
  status: string
}

/** The machines that are on a host, or are wanted there, the oldest first. */
export async function machinesOf(db: Queryable, hostId: string): Promise<MachineThere[]> {
  const { rows } = await db.query<MachineThere>(
    `select id, account_id, hostname, product, status from vps
     where host_id = $1 and machine_gone_at is null order by id`,
    [hostId],
  )
  return rows
}

export interface Orphan {
  machine_id: string
  found_at: Date
}

export async function orphansOf(db: Queryable, hostId: string): Promise<Orphan[]> {
  const { rows } = await db.query<Orphan>(
    'select machine_id, found_at from orphan where host_id = $1 order by machine_id',
    [hostId],
  )
  return rows
}
