import type { SandboxArtifact } from '@coinrack/compute/ports/sandbox-artifacts.ts'
import type { TariffName } from '@coinrack/contract/sandbox-tariffs.ts'
import { assignments, insertion } from '../../database/columns.ts'
import type { Queryable, Transaction } from '../../database/transaction.ts'

export interface SnapshotRow {
  id: string
  account_id: string
  sandbox_id: string
  name: string
  tariff: TariffName
  status: 'creating' | 'ready' | 'failed' | 'deleting' | 'deleted'
  attempts: number
  /** The space that it takes on the host's disk. */
  bytes: bigint | null
  /** Where it was taken. */
  host_id: string
  created_at: Date
  /** Only a customer's own are listed, and counted. */
  purpose: 'customer' | 'template' | 'layer'
}

const COLUMNS = `id, account_id, sandbox_id, name, tariff, status, attempts, bytes, created_at, purpose,
  coalesce(host_id, (select host_id from sandbox where sandbox.id = sandbox_id)) as host_id`

export async function insertSnapshot(
  tx: Transaction,
  row: Omit<SnapshotRow, 'status' | 'attempts' | 'bytes' | 'purpose'> & Partial<Pick<SnapshotRow, 'purpose'>>,
): Promise<SnapshotRow> {
  const { rows } = await tx.query<SnapshotRow>(
    `insert into sandbox_snapshot ${insertion(row)} returning ${COLUMNS}`,
    Object.values(row),
  )
  return rows[0]!
}

export async function snapshotById(db: Queryable, id: string): Promise<SnapshotRow | undefined> {
  const { rows } = await db.query<SnapshotRow>(
    `select ${COLUMNS} from sandbox_snapshot where id = $1 and status <> 'deleted'`,
    [id],
  )
  return rows[0]
}

/** The hosts that have all of a snapshot. */
export async function holdersOf(db: Queryable, id: string): Promise<Set<string>> {
  const { rows } = await db.query<{ host_id: string }>(
    `select coalesce(snapshot.host_id, sandbox.host_id) as host_id
     from sandbox_snapshot snapshot join sandbox on sandbox.id = sandbox_id where snapshot.id = $1
     union select host_id from sandbox_snapshot_copy where snapshot_id = $1 and is_whole`,
    [id],
  )
  return new Set(rows.map(({ host_id }) => host_id))
}

/** The files of a snapshot with their sums, as its host said when it was taken; undefined when they were not asked for. */
export async function artifactOf(db: Queryable, id: string): Promise<SandboxArtifact | undefined> {
  const { rows } = await db.query<{ artifact: SandboxArtifact | null }>(
    'select artifact from sandbox_snapshot where id = $1',
    [id],
  )
  return rows[0]?.artifact ?? undefined
}

/** Writes down that another host has a snapshot, or that it is being given it. */
export async function noteCopy(
  db: Queryable,
  id: string,
  hostId: string,
  { isWhole }: { isWhole: boolean },
): Promise<void> {
  await db.query(
    `insert into sandbox_snapshot_copy (snapshot_id, host_id, is_whole) values ($1, $2, $3)
     on conflict (snapshot_id, host_id) do update set is_whole = $3`,
    [id, hostId, isWhole],
  )
}

export async function forgetCopies(db: Queryable, id: string): Promise<void> {
  await db.query('delete from sandbox_snapshot_copy where snapshot_id = $1', [id])
}

/** Newest first. */
export async function snapshotsOf(
  db: Queryable,
  accountId: string,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<SnapshotRow[]> {
  const { rows } = await db.query<SnapshotRow>(
    `select ${COLUMNS} from sandbox_snapshot
     where account_id = $1 and status <> 'deleted' and purpose = 'customer' and ($3::text is null or id < $3)
     order by id desc limit $2 + 1`,
    [accountId, limit, cursor ?? null],
  )
  return rows
}

/** The number of snapshots that an account keeps; the caller has locked the account. */
export async function keptSnapshots(tx: Transaction, accountId: string): Promise<number> {
  const { rows } = await tx.query<{ kept: number }>(
    `select count(*)::int as kept from sandbox_snapshot
     where account_id = $1 and status in ('creating', 'ready') and purpose = 'customer'`,
    [accountId],
  )
  return rows[0]!.kept
}

/** Changes one, unless its status is another by now. */
export async function setSnapshot(
  db: Queryable,
  id: string,
  from: readonly SnapshotRow['status'][],
  change: Partial<Pick<SnapshotRow, 'status' | 'attempts' | 'bytes' | 'purpose'>> & {
    artifact?: SandboxArtifact
  },
): Promise<void> {
  await db.query(
    `update sandbox_snapshot set ${assignments(change, 3)}
     where id = $1 and status = any($2)`,
    [id, from, ...Object.values(change)],
  )
}

export async function snapshotsInWork(db: Queryable): Promise<SnapshotRow[]> {
  const { rows } = await db.query<SnapshotRow>({
    name: 'sandbox_snapshots_in_work',
    text: `select ${COLUMNS} from sandbox_snapshot where status in ('creating', 'deleting') order by id`,
  })
  return rows
}

/** Which of the snapshots that a host keeps belong to nothing there: neither to a customer's nor to a copy of a paused sandbox. */
export async function straySnapshotsOn(
  db: Queryable,
  hostId: string,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return []
  const { rows } = await db.query<{ id: string }>(
    `select id from unnest($1::text[]) there (id)
     where not exists (
       select from sandbox_snapshot snapshot join sandbox on sandbox.id = sandbox_id
       where snapshot.id = there.id and status in ('creating', 'ready') and (
         coalesce(snapshot.host_id, sandbox.host_id) = $2
         or exists (select from sandbox_snapshot_copy copy where copy.snapshot_id = there.id and copy.host_id = $2)))
     and not exists (
       select from sandbox_copy where snapshot_id = there.id and (host_id = $2 or not is_whole))`,
    [ids, hostId],
  )
  return rows.map(({ id }) => id)
}
