import type { SandboxArtifact } from '@coinrack/compute/ports/sandbox-artifacts.ts'
import type { Queryable, Transaction } from '../../database/transaction.ts'

/** A copy of a paused sandbox on another host than it was paused on, as a snapshot that no customer sees. */
export interface CopyRow {
  sandbox_id: string
  snapshot_id: string
  /** Where the copy is. */
  host_id: string
  /** Null until it was made on the sandbox's own host. */
  artifact: SandboxArtifact | null
  is_whole: boolean
}

const COLUMNS = 'sandbox_id, snapshot_id, host_id, artifact, is_whole'

export async function copyOf(db: Queryable, sandboxId: string): Promise<CopyRow | undefined> {
  const { rows } = await db.query<CopyRow>(`select ${COLUMNS} from sandbox_copy where sandbox_id = $1`, [
    sandboxId,
  ])
  return rows[0]
}

/** The copy that a sandbox is now, after it was moved; undefined for one that is on the host where it was paused. */
export async function ownCopy(
  db: Queryable,
  { id, host_id }: { id: string; host_id: string },
): Promise<CopyRow | undefined> {
  const copy = await copyOf(db, id)
  return copy?.is_whole && copy.host_id === host_id ? copy : undefined
}

export async function insertCopy(
  tx: Transaction,
  { sandbox_id, snapshot_id, host_id }: Pick<CopyRow, 'sandbox_id' | 'snapshot_id' | 'host_id'>,
): Promise<void> {
  await tx.query(
    `insert into sandbox_copy (sandbox_id, snapshot_id, host_id) values ($1, $2, $3) on conflict do nothing`,
    [sandbox_id, snapshot_id, host_id],
  )
}

export async function updateCopy(
  db: Queryable,
  sandboxId: string,
  { artifact, isWhole }: { artifact: SandboxArtifact; isWhole: boolean },
): Promise<void> {
  await db.query('update sandbox_copy set artifact = $2, is_whole = $3 where sandbox_id = $1', [
    sandboxId,
    JSON.stringify(artifact),
    isWhole,
  ])
}

/** Forgets the copy of a sandbox whose state has changed since: the host that has it removes it by itself. */
export async function dropCopy(db: Queryable, sandboxId: string): Promise<void> {
  await db.query('delete from sandbox_copy where sandbox_id = $1', [sandboxId])
}

/** A paused sandbox that shall have a copy. */
export interface ToCopy {
  id: string
  account_id: string
  host_id: string
  disk_gb: number
  /** Whether it moves to where its copy is. */
  moves: boolean
}

/**
 * Paused sandboxes that are to move, since their host drains, and those that have no copy yet if all shall have one.
 * @param reached the hosts that can be reached
 */
export async function sandboxesToCopy(
  db: Queryable,
  reached: readonly string[],
  copiesOfAll: boolean,
): Promise<ToCopy[]> {
  const { rows } = await db.query<ToCopy>(
    `select sandbox.id, account_id, sandbox.host_id, sandbox.disk_gb, host.state <> 'open' as moves
     from sandbox join host on host.id = sandbox.host_id left join sandbox_copy copy on copy.sandbox_id = sandbox.id
     where gone_at is null and sandbox.state = 'paused' and wanted = 'paused' and sandbox.host_id = any($1)
       and (host.state <> 'open' and copy.host_id is distinct from sandbox.host_id or $2 and copy.is_whole is not true)
     order by sandbox.id limit 100`,
    [reached, copiesOfAll],
  )
  return rows
}

/** The paused sandboxes of a host that have all of a copy on another. */
export async function copiedFrom(
  db: Queryable,
  hostId: string,
): Promise<{ id: string; account_id: string }[]> {
  const { rows } = await db.query<{ id: string; account_id: string }>(
    `select sandbox.id, account_id from sandbox join sandbox_copy copy on copy.sandbox_id = sandbox.id
     where sandbox.host_id = $1 and copy.host_id <> $1 and is_whole and gone_at is null
       and state = 'paused' and wanted = 'paused'
     order by sandbox.id`,
    [hostId],
  )
  return rows
}
