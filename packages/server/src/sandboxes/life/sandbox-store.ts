import type { TariffName } from '@coinrack/contract/sandbox-tariffs.ts'
import type { sandboxReasons } from '@coinrack/contract/sandboxes.ts'
import type { Config } from '../../config/config.ts'
import { assignments, insertion } from '../../database/columns.ts'
import type { Queryable, Transaction } from '../../database/transaction.ts'
import { SANDBOX_USE, type SandboxUse } from '../../dispatch/read-models.ts'

export type SandboxReason = (typeof sandboxReasons)[number]

export interface NetworkJson {
  allow_internet: boolean
  allow_out: string[]
  deny_out: string[]
}

export interface SandboxRow {
  id: string
  /** Where it runs. */
  host_id: string
  account_id: string
  counted_for: string[]
  tariff: TariffName
  /** What its host makes it from. */
  template: string
  /** The name that its owner gave that, where it is another. */
  template_name: string | null
  mode: 'ephemeral' | 'persistent'
  vcpus: number
  memory_mb: number
  disk_gb: number
  /** Sealed. */
  env: Buffer
  metadata: Record<string, string>
  network: NetworkJson
  wanted_network: number
  done_network: number
  parent_id: string | null
  /** The token of the program that it runs, whose own it is. */
  program_token_id: string | null
  timeout_s: number
  /** 0: never. */
  idle_s: number
  wanted: 'running' | 'paused' | 'ended'
  state: 'starting' | 'running' | 'paused' | 'ended' | 'failed'
  reason: SandboxReason | null
  failure: string | null
  attempts: number
  created_at: Date
  expires_at: Date
  idle_at: Date | null
  ended_at: Date | null
  gone_at: Date | null
  price_hourly: bigint
  ran_ms: bigint
  /** The part of it before the sandbox came to this host. */
  ran_before_ms: bigint
  run_limit_ms: bigint
  seen_at: Date
  charged: bigint
  waived: bigint
  held: bigint
  /** What is left of the amount that a person approved for its running. */
  approved: bigint
}

const COLUMNS = `id, host_id, account_id, counted_for, tariff, template, template_name, mode, vcpus, memory_mb, disk_gb, env, metadata, network,
  wanted_network, done_network, parent_id, program_token_id, timeout_s, idle_s, wanted, state, reason, failure, attempts, created_at,
  expires_at, idle_at, ended_at, gone_at, price_hourly, ran_ms, ran_before_ms, run_limit_ms, seen_at, charged, waived, held, approved`

export type NewSandbox = Pick<
  SandboxRow,
  | 'id'
  | 'host_id'
  | 'account_id'
  | 'counted_for'
  | 'tariff'
  | 'template'
  | 'mode'
  | 'vcpus'
  | 'memory_mb'
  | 'disk_gb'
  | 'env'
  | 'metadata'
  | 'network'
  | 'parent_id'
  | 'timeout_s'
  | 'idle_s'
  | 'created_at'
  | 'expires_at'
  | 'price_hourly'
  | 'seen_at'
  | 'held'
  | 'approved'
> &
  Partial<Pick<SandboxRow, 'program_token_id' | 'template_name'>>

/** How long a paused sandbox is kept before it ends. */
const KEPT = `interval '30 days'`

/** A new sandbox: wanted running, not there yet. */
export async function insertSandbox(tx: Transaction, row: NewSandbox): Promise<SandboxRow> {
  const { rows } = await tx.query<SandboxRow>(
    `insert into sandbox ${insertion(row)}
     returning ${COLUMNS}`,
    Object.values(row),
  )
  return rows[0]!
}

export async function sandboxById(db: Queryable, id: string): Promise<SandboxRow> {
  const { rows } = await db.query<SandboxRow>({
    name: 'sandbox_by_id',
    text: `select ${COLUMNS} from sandbox where id = $1`,
    values: [id],
  })
  if (!rows[0]) throw new Error(`There is no sandbox ${id}`)
  return rows[0]
}

/** Changes one, and answers it as it is then. */
export async function updateSandbox(
  db: Queryable,
  id: string,
  change: Partial<Omit<SandboxRow, 'id'>>,
): Promise<SandboxRow> {
  const { rows } = await db.query<SandboxRow>(
    `update sandbox set ${assignments(change, 2)} where id = $1
     returning ${COLUMNS}`,
    [id, ...Object.values(change)],
  )
  return rows[0]!
}

interface Wanted {
  limit: number
  cursor?: string | undefined
  state?: string | undefined
  /** All of it has to be theirs. */
  metadata?: Record<string, string> | undefined
}

/** Newest first; without a state those that are not over. */
export async function sandboxesOf(
  db: Queryable,
  accountId: string,
  { limit, cursor, state, metadata = {} }: Wanted,
): Promise<SandboxRow[]> {
  const { rows } = await db.query<SandboxRow>(
    `select ${COLUMNS} from sandbox
     where account_id = $1 and ($3::text is null or id < $3) and metadata @> $5::jsonb and case $4::text
       when 'pausing' then state in ('starting', 'running') and wanted = 'paused'
       when 'resuming' then state = 'paused' and wanted = 'running'
       when 'ended' then state = 'ended' or state <> 'failed' and wanted = 'ended'
       when 'failed' then state = 'failed'
       else wanted <> 'ended' and state not in ('ended', 'failed') and ($4 is null or state = $4 and (wanted = state or state = 'starting'))
     end
     order by id desc limit $2 + 1`,
    [accountId, limit, cursor ?? null, state ?? null, JSON.stringify(metadata)],
  )
  return rows
}

/** How many a token, and all below it, has that are not over. */
export async function liveSandboxesOf(tx: Transaction, tokenId: string): Promise<bigint> {
  const { rows } = await tx.query<{ live: bigint }>(
    `select count(*) as live from sandbox
     where account_id = (select account_id from token where id = $1) and $1 = any(counted_for)
       and wanted <> 'ended' and state not in ('ended', 'failed')`,
    [tokenId],
  )
  return rows[0]!.live
}

/**
 * The processors of those that run, or are about to, by host: they count for less where the operator promises them more
 * than once.
 */
export async function processorsTaken(
  db: Queryable,
  { sandboxOvercommit }: Pick<Config, 'sandboxOvercommit'>,
  hostIds: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await db.query<{ host_id: string; vcpus: number }>(
    `select host_id, sum(vcpus)::float8 / $1 as vcpus from sandbox
     where gone_at is null and (state in ('starting', 'running') or wanted = 'running') and host_id = any($2)
     group by host_id`,
    [sandboxOvercommit, hostIds],
  )
  return new Map(rows.map(({ host_id, vcpus }) => [host_id, vcpus]))
}

/** Whatever something is to be done with, the oldest first. */
export async function sandboxesInWork(db: Queryable): Promise<SandboxRow[]> {
  const { rows } = await db.query<SandboxRow>({
    name: 'sandboxes_in_work',
    text: `select ${COLUMNS} from sandbox
      where gone_at is null and (wanted <> state or state = 'ended' or done_network < wanted_network)
      order by id`,
  })
  return rows
}

/** All that should be there, and what they should be. */
export async function sandboxesThere(db: Queryable): Promise<Pick<SandboxRow, 'id' | 'host_id' | 'state'>[]> {
  const { rows } = await db.query<Pick<SandboxRow, 'id' | 'host_id' | 'state'>>(
    `select id, host_id, state from sandbox where gone_at is null and state in ('running', 'paused')`,
  )
  return rows
}

/** Which of the sandboxes that a host has should not be there: they are gone, on another host, or nobody's. */
export async function strayOn(db: Queryable, hostId: string, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const { rows } = await db.query<{ id: string }>(
    `select id from unnest($1::text[]) there (id)
     where not exists (
       select from sandbox where sandbox.id = there.id and gone_at is null and host_id = $2)`,
    [ids, hostId],
  )
  return rows.map(({ id }) => id)
}

/** The hosts that something is on. */
export async function hostsOfSandboxes(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ host_id: string }>(
    'select distinct host_id from sandbox where gone_at is null order by 1',
  )
  return rows.map(({ host_id }) => host_id)
}

/** Those of a host that are about to run. */
export async function waitingOn(db: Queryable, hostId: string): Promise<SandboxRow[]> {
  const { rows } = await db.query<SandboxRow>(
    `select ${COLUMNS} from sandbox
     where host_id = $1 and gone_at is null and wanted = 'running' and state in ('starting', 'paused') order by id`,
    [hostId],
  )
  return rows
}

/**
 * Wants those ended that run on a host, or are about to pause there.
 * @param paused those as well that are paused there
 * @returns how many
 */
export async function loseSandboxes(
  tx: Transaction,
  hostId: string,
  { paused = false } = {},
): Promise<number> {
  const { rowCount } = await tx.query(
    `update sandbox set wanted = 'ended', reason = 'host_lost'
     where host_id = $1 and gone_at is null and (state = 'running' or $2 and state = 'paused') and wanted <> 'ended'`,
    [hostId, paused],
  )
  return rowCount ?? 0
}

/** Wants those ended that run a program. @returns how many */
export async function endSandboxesOfPrograms(tx: Transaction): Promise<number> {
  const { rowCount } = await tx.query(
    `update sandbox set wanted = 'ended', reason = 'asked'
     where program_token_id is not null and gone_at is null and wanted <> 'ended'`,
  )
  return rowCount ?? 0
}

/** Wants those ended or paused whose time is over, and tells which. */
export async function expireSandboxes(db: Queryable, now: Date): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `update sandbox set
       wanted = case when state = 'running' and mode = 'persistent' then 'paused' else 'ended' end,
       reason = case when state = 'paused' then 'kept_too_long' when expires_at <= $1 then 'timeout' else 'idle' end
     where state in ('running', 'paused') and wanted = state and least(expires_at, idle_at) <= $1
     returning id`,
    [now],
  )
  return rows.map(({ id }) => id)
}

/** Wants those ended or paused whose money is over. */
export async function endUnpaid(db: Queryable, now: Date): Promise<void> {
  await db.query(
    `update sandbox set wanted = case when mode = 'persistent' then 'paused' else 'ended' end, reason = ends_for
     where ends_at <= $1 and state = 'running' and wanted = 'running'`,
    [now],
  )
}

/** It was used now. */
export async function touchSandbox(db: Queryable, id: string, now: Date): Promise<void> {
  await db.query({
    name: 'sandbox_touch',
    text: `update sandbox set idle_at = $2::timestamptz + idle_s * interval '1 second'
      where id = $1 and state = 'running' and idle_s > 0`,
    values: [id, now],
  })
}

/** It is paused: kept for so long. */
export async function keepPaused(tx: Transaction, id: string, now: Date): Promise<void> {
  await tx.query(`update sandbox set expires_at = $2::timestamptz + ${KEPT}, idle_at = null where id = $1`, [
    id,
    now,
  ])
}

/** The same as is read with a token, for who needs none. */
export async function sandboxUse(db: Queryable, id: string): Promise<SandboxUse | undefined> {
  const { rows } = await db.query<Omit<SandboxUse, 'idle_at'> & { idle_at: Date | null }>({
    name: 'sandbox_use',
    text: `${SANDBOX_USE} where id = $1`,
    values: [id],
  })
  const row = rows[0]
  return row && { ...row, idle_at: row.idle_at?.toISOString() ?? null }
}
