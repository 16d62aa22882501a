import type { Queryable, Transaction } from '../../database/transaction.ts'

/** The most layers that are kept of an account. */
export const LAYERS = 20
/** One that was not used for so long is removed. */
const UNUSED = `interval '7 days'`

/** Those of these states, given by digest, that are kept and ready. */
export async function readyLayers(
  db: Queryable,
  accountId: string,
  digests: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await db.query<{ digest: string; snapshot_id: string }>(
    `select digest, snapshot_id from sandbox_layer layer join sandbox_snapshot snapshot on snapshot.id = snapshot_id
     where layer.account_id = $1 and digest = any($2) and status = 'ready'`,
    [accountId, digests],
  )
  return new Map(rows.map(({ digest, snapshot_id }) => [digest, snapshot_id]))
}

export async function touchLayer(db: Queryable, accountId: string, digest: string, now: Date): Promise<void> {
  await db.query('update sandbox_layer set used_at = $3 where account_id = $1 and digest = $2', [
    accountId,
    digest,
    now,
  ])
}

/** Takes a state into the cache; the snapshot that had its place is removed. */
export async function putLayer(
  tx: Transaction,
  layer: { account_id: string; digest: string; snapshot_id: string; used_at: Date },
): Promise<void> {
  const { account_id, digest, snapshot_id, used_at } = layer
  await tx.query(
    `with before as (delete from sandbox_layer where account_id = $1 and digest = $2 returning snapshot_id)
     update sandbox_snapshot set status = 'deleting' from before where id = before.snapshot_id`,
    [account_id, digest],
  )
  await tx.query(
    'insert into sandbox_layer (account_id, digest, snapshot_id, used_at) values ($1, $2, $3, $4)',
    [account_id, digest, snapshot_id, used_at],
  )
}

/**
 * Removes layers beyond those of an account that were used last, those that nobody used for a week, and those whose
 * snapshot failed. What a build has begun as is its own.
 */
export async function dropOldLayers(db: Queryable, now: Date): Promise<void> {
  await db.query(
    `with old as (
       delete from sandbox_layer layer using (
         select kept.account_id, kept.digest, kept.used_at, snapshot.status,
           row_number() over (partition by kept.account_id order by kept.used_at desc, kept.snapshot_id desc) as place
         from sandbox_layer kept join sandbox_snapshot snapshot on snapshot.id = kept.snapshot_id
       ) ranked (account_id, digest, used_at, status, place)
       where layer.account_id = ranked.account_id and layer.digest = ranked.digest
         and (ranked.place > $1 or ranked.used_at < $2::timestamptz - ${UNUSED} or ranked.status not in ('creating', 'ready'))
         and not exists (
           select from sandbox where sandbox.template = layer.snapshot_id and sandbox.state = 'starting' and wanted = 'running')
       returning layer.snapshot_id
     )
     update sandbox_snapshot set status = 'deleting' from old where id = old.snapshot_id and status in ('creating', 'ready', 'failed')`,
    [LAYERS, now],
  )
}
