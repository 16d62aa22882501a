import type { Queryable } from '../../database/transaction.ts'
import { type Level, levels, outdatedPart, partOf, partsOf } from './levels.ts'
import type { Counters, Used } from './meter-delta.ts'

export interface Sample {
  vpsId: string
  memoryMb: number
  used: Used | undefined
  counters: Counters
}

export interface MeteredMachine {
  id: string
  host_id: string
  vcpus: number
  memory_mb: number
  ssh_ready: boolean
}

/** Every machine of these hosts that may run, from its first boot on: what is not read soon after a start cannot be told apart later. */
export async function meteredMachines(db: Queryable, hosts: readonly string[]): Promise<MeteredMachine[]> {
  const { rows } = await db.query<MeteredMachine>(
    `select id, host_id, vcpus, memory_mb, ssh_ready from vps_machine
     where machine_gone_at is null and status in ('provisioning', 'active', 'rebooting') and host_id = any($1)`,
    [hosts],
  )
  return rows
}

/** Writes the samples of one step, all at once. A step that was written before, by another replica, stays. */
export async function insertSamples(db: Queryable, at: number, samples: Sample[]): Promise<void> {
  const column = (value: (sample: Sample) => unknown) => samples.map(value)
  await db.query({
    name: 'insert_vps_metric',
    text: `insert into vps_metric (part, vps_id, at, samples, memory_mb, covered_ms, cpu_ms, disk_read_bytes, disk_write_bytes,
       rx_bytes, tx_bytes, counters)
     select $1, vps_id, $2, 1, memory_mb, covered_ms, cpu_ms, disk_read_bytes, disk_write_bytes, rx_bytes, tx_bytes, counters
     from unnest($3::text[], $4::integer[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
       $10::bigint[], $11::jsonb[])
       as given (vps_id, memory_mb, covered_ms, cpu_ms, disk_read_bytes, disk_write_bytes, rx_bytes, tx_bytes, counters)
     on conflict do nothing`,
    values: [
      partOf(levels[0]!, at),
      at,
      column(({ vpsId }) => vpsId),
      column(({ memoryMb }) => memoryMb),
      column(({ used }) => used?.coveredMs ?? null),
      column(({ used }) => used?.cpuMs ?? null),
      column(({ used }) => used?.diskRead ?? null),
      column(({ used }) => used?.diskWritten ?? null),
      column(({ used }) => used?.rx ?? null),
      column(({ used }) => used?.tx ?? null),
      column(({ counters }) => JSON.stringify(counters)),
    ],
  })
}

/** The newest counters of each machine since a time, in unix seconds. */
export async function lastCounters(db: Queryable, since: number): Promise<Map<string, Counters>> {
  const { rows } = await db.query<{ vps_id: string; counters: Counters }>(
    `select distinct on (vps_id) vps_id, counters from vps_metric
     where part = any($1) and at >= $2 order by vps_id, at desc`,
    [partsOf(levels[0]!), since],
  )
  return new Map(rows.map(({ vps_id, counters }) => [vps_id, counters]))
}

/** Makes the steps of a level from `from` until before `to` out of the finer level. Made before: they stay. */
export async function rollUp(db: Queryable, level: Level, from: number, to: number): Promise<void> {
  const finer = levels[level.index - 1]!
  await db.query(
    `insert into vps_metric (part, vps_id, at, samples, memory_mb, covered_ms, cpu_ms, disk_read_bytes, disk_write_bytes,
       rx_bytes, tx_bytes)
     select ($1::bigint + (step / $2::bigint) % 4)::smallint, vps_id, step, sum(samples), round(sum(memory_mb::bigint * samples) / sum(samples)),
       sum(covered_ms), sum(cpu_ms), sum(disk_read_bytes), sum(disk_write_bytes), sum(rx_bytes), sum(tx_bytes)
     from (select *, at - at % $3::bigint as step from vps_metric where part = any($4) and at >= $5 and at < $6) as finer
     group by vps_id, step
     on conflict do nothing`,
    [partsOf(level)[0], level.keepSeconds / 2, level.stepSeconds, partsOf(finer), from, to],
  )
}

/** Empties the part of a level that is filled next. */
export async function dropOutdated(db: Queryable, level: Level, now: number): Promise<void> {
  const table = `vps_metric_${outdatedPart(level, now)}`
  const { rows } = await db.query<{ filled: boolean }>(`select exists (select from ${table}) as filled`)
  if (rows[0]!.filled) await db.query(`truncate ${table}`)
}

export interface Point {
  step: number
  cpu_percent: number | null
  memory_used_mb: number
  disk_read_bytes: number | null
  disk_write_bytes: number | null
  rx_bytes: number | null
  tx_bytes: number | null
}

/** The steps of one machine from `from` on, oldest first, as wide as asked for. */
export async function pointsOf(
  db: Queryable,
  vpsId: string,
  level: Level,
  { from, to, stepSeconds }: { from: number; to: number; stepSeconds: number },
): Promise<Point[]> {
  const { rows } = await db.query<Point>(
    `select (at - at % $5::bigint)::float8 as step,
       round(sum(cpu_ms) * 100 / nullif(sum(covered_ms), 0), 1)::float8 as cpu_percent,
       round(sum(memory_mb::bigint * samples) / sum(samples))::float8 as memory_used_mb,
       sum(disk_read_bytes)::float8 as disk_read_bytes, sum(disk_write_bytes)::float8 as disk_write_bytes,
       sum(rx_bytes)::float8 as rx_bytes, sum(tx_bytes)::float8 as tx_bytes
     from vps_metric where part = any($1) and vps_id = $2 and at >= $3 and at < $4
     group by 1 order by 1`,
    [partsOf(level), vpsId, from, to, stepSeconds],
  )
  return rows
}
