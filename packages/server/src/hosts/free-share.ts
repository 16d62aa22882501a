import type { Queryable } from '../database/transaction.ts'
import type { Services } from '../platform/services.ts'
import { type Candidate, fits, type Share } from './choose-host.ts'
import type { StoredFeature } from './features.ts'
import { SANDBOX_HOST } from './host-store.ts'

/**
 * The share of each host that machines and sandboxes have taken, those that are wanted and not there yet included, and those
 * that move there. A paused sandbox takes its disk alone; processors and memory of sandboxes count for less where the operator
 * promises them more than once.
 * @param hosts the number of the parameter with the hosts that are counted alone
 */
function takenText(hosts?: string): string {
  const of = (column: string) => (hosts === undefined ? '' : `and ${column} = any(${hosts})`)
  return `
select host_id, sum(memory_mb) as memory_mb, sum(disk_gb) as disk_gb from (
  select host_id, memory_mb::float8, disk_gb::float8 from vps_machine where machine_gone_at is null ${of('host_id')}
  union all
  select to_host, memory_mb, disk_gb from vps_move join vps_machine using (id)
  where to_host is not null and machine_gone_at is null ${of('to_host')}
  union all
  select host_id, case when state in ('starting', 'running') or wanted = 'running' then memory_mb::float8 / $1 else 0 end, disk_gb
  from sandbox where gone_at is null ${of('host_id')}
) there group by host_id`
}

type Overcommit = Pick<Services, 'config'>

/** The share of each of these hosts that machines and sandboxes have taken together; none where nothing is. */
export async function takenOfAll(
  db: Queryable,
  { config }: Overcommit,
  hostIds: readonly string[],
): Promise<Map<string, Share>> {
  const { rows } = await db.query<Share & { host_id: string }>(
    `select host_id, memory_mb, disk_gb from (${takenText('$2')}) taken`,
    [config.sandboxOvercommit, hostIds],
  )
  return new Map(rows.map((row) => [row.host_id, row]))
}

/** The conditions that a host has to meet for a machine. Undefined: any value will do. */
export interface Demand {
  region?: string | undefined
  /** A slug of an image that is ready there. */
  image?: string | undefined
  /** Only hosts of this one. */
  cluster?: string | undefined
  /** Only these. */
  hostIds?: readonly string[] | undefined
  /** Also one that is draining: the machine is there already. */
  isThere?: boolean
}

type Value = (given: unknown) => string

/** The conditions on a row of `host`, without what is taken of it. */
const conditionsOf = (demand: Demand, value: Value): string =>
  [
    `host.memory_mb is not null and host.trouble is null and host.kind <> '${SANDBOX_HOST}'`,
    ...(demand.isThere ? [] : [`host.state = 'open'`]),
    ...(demand.hostIds === undefined ? [] : [`host.id = any(${value(demand.hostIds)})`]),
    ...(demand.cluster === undefined ? [] : [`host.cluster = ${value(demand.cluster)}`]),
    ...(demand.region === undefined ? [] : [`host.region = ${value(demand.region)}`]),
    ...(demand.image === undefined
      ? []
      : [`host.images @> ${value(JSON.stringify([{ slug: demand.image, state: 'ready' }]))}::jsonb`]),
  ].join(' and ')

/** A host that meets the demand, whatever is taken of it. */
export interface MeetingHost {
  id: string
  features: StoredFeature[]
}

/** The hosts that meet the demand, whether they have room or not. */
export async function hostsMeeting(db: Queryable, demand: Demand): Promise<MeetingHost[]> {
  const values: unknown[] = []
  const { rows } = await db.query<MeetingHost>(
    `select id, features from host where ${conditionsOf(demand, (given) => `$${values.push(given)}`)} order by id`,
    values,
  )
  return rows
}

/** The hosts that may get a machine now, with what is left of each. */
export async function candidates(
  db: Queryable,
  { config }: Overcommit,
  demand: Demand = {},
): Promise<(Candidate & MeetingHost)[]> {
  const values: unknown[] = [config.sandboxOvercommit]
  const value: Value = (given) => `$${values.push(given)}`
  const taken = takenText(demand.hostIds && value(demand.hostIds))
  const { rows } = await db.query<Candidate & MeetingHost>(
    `select host.id, host.region, host.features, host.memory_mb - coalesce(taken.memory_mb, 0) as memory_mb,
       host.disk_gb - coalesce(taken.disk_gb, 0) as disk_gb
     from host left join (${taken}) taken on taken.host_id = host.id
     where ${conditionsOf(demand, value)} order by host.id`,
    values,
  )
  return rows
}

/** Whether a host has so much left for what is there already: also one that is draining. */
export async function hasRoomFor(
  db: Queryable,
  services: Overcommit,
  hostId: string,
  more: Share,
): Promise<boolean> {
  const [host] = await candidates(db, services, { hostIds: [hostId], isThere: true })
  return host !== undefined && fits(more, host)
}
