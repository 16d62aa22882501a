import type { Queryable, Transaction } from '../../database/transaction.ts'

/** Something that the authorization server keeps, as it is stored. */
export interface StateRow {
  payload: Buffer
  consumed_at: Date | null
}

/** What is kept under this identifier and still counts: not when it is too old, or its grant has ended. */
export async function findState(
  db: Queryable,
  { model, hash, now }: { model: string; hash: Buffer; now: Date },
): Promise<StateRow | undefined> {
  const { rows } = await db.query<StateRow>(
    `select state.payload, state.consumed_at from oauth_state state left join token on token.id = state.token_id
     where state.model = $1 and state.hash = $2 and state.expires_at > $3
       and (state.token_id is null or (token.revoked_at is null and token.expires_at > $3))`,
    [model, hash, now],
  )
  return rows[0]
}

export async function keepState(
  tx: Transaction,
  state: { model: string; hash: Buffer; payload: Buffer; tokenId: string | null; expiresAt: Date },
): Promise<void> {
  await tx.query(
    `insert into oauth_state (model, hash, payload, token_id, expires_at) values ($1, $2, $3, $4, $5)
     on conflict (model, hash) do update set payload = excluded.payload, expires_at = excluded.expires_at`,
    [state.model, state.hash, state.payload, state.tokenId, state.expiresAt],
  )
}

/** @returns false when it was used before, or is gone */
export async function consumeState(
  tx: Transaction,
  { model, hash, now }: { model: string; hash: Buffer; now: Date },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    'update oauth_state set consumed_at = $3 where model = $1 and hash = $2 and consumed_at is null',
    [model, hash, now],
  )
  return rowCount === 1
}

export async function deleteState(tx: Transaction, model: string, hash: Buffer): Promise<void> {
  await tx.query('delete from oauth_state where model = $1 and hash = $2', [model, hash])
}

/** Deletes what is kept of one kind for a grant. */
export async function deleteStatesOfGrant(tx: Transaction, model: string, tokenId: string): Promise<void> {
  await tx.query('delete from oauth_state where model = $1 and token_id = $2', [model, tokenId])
}

/** A grant lasts as long as its newest text, and no longer than `most` days from when it was made. */
export async function extendGrant(
  tx: Transaction,
  tokenId: string,
  { until, most }: { until: Date; most: number },
): Promise<void> {
  await tx.query(
    `update token set expires_at = least(greatest(expires_at, $2), created_at + make_interval(days => $3))
     where id = $1 and kind = 'grant'`,
    [tokenId, until, most],
  )
}

/** A registered application that is used is kept longer. */
export async function extendClient(tx: Transaction, hash: Buffer, until: Date): Promise<void> {
  await tx.query(
    `update oauth_state set expires_at = greatest(expires_at, $2) where model = 'Client' and hash = $1`,
    [hash, until],
  )
}

/** Forgets the applications beyond so many: those first that would be forgotten soonest, which nobody has used. */
export async function boundClients(tx: Transaction, most: number): Promise<void> {
  await tx.query(
    `delete from oauth_state where model = 'Client' and hash in (
       select hash from oauth_state where model = 'Client' order by expires_at desc, hash offset $1)`,
    [most],
  )
}

/** Takes no input. */
export async function forgetOldStates(db: Queryable, now: Date): Promise<void> {
  await db.query('delete from oauth_state where expires_at <= $1', [now])
}
