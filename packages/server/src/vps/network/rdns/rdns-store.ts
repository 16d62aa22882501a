import type { Queryable, Transaction } from '../../../database/transaction.ts'

export interface RdnsRow {
  address: string
  hostname: string | null
  wanted: number
  done: number
  attempts: number
  failure: string | null
}

const COLUMNS = 'address, hostname, wanted, done, attempts, failure'

/** Wants a name for an address. The same as before: it is looked at again now, if it is not published. */
export async function wantName(
  tx: Transaction,
  address: string,
  vpsId: string,
  hostname: string | null,
  now: Date,
): Promise<RdnsRow> {
  const { rows } = await tx.query<RdnsRow>(
    `insert into vps_rdns (address, vps_id, hostname, due_at) values ($1, $2, $3, $4)
     on conflict (address) do update set vps_id = $2, hostname = $3, due_at = $4, attempts = 0,
       wanted = vps_rdns.wanted + (vps_rdns.hostname is distinct from $3)::int,
       failure = case when vps_rdns.hostname is distinct from $3 then null else vps_rdns.failure end
     returning ${COLUMNS}`,
    [address, vpsId, hostname, now],
  )
  return rows[0]!
}

/** Wants no names any more for the addresses of a machine that is gone. */
export async function unwantNames(tx: Transaction, vpsId: string, now: Date): Promise<void> {
  await tx.query(
    `update vps_rdns set hostname = null, wanted = wanted + 1, due_at = $2, attempts = 0, failure = null
     where vps_id = $1 and hostname is not null`,
    [vpsId, now],
  )
}

/** Addresses whose name is not what is wanted, and is to be looked at now. */
export async function dueNames(db: Queryable, now: Date, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ address: string }>(
    'select address from vps_rdns where done < wanted and due_at <= $1 order by due_at limit $2',
    [now, limit],
  )
  return rows.map(({ address }) => address)
}

/** The name that is wanted for an address; undefined when nothing is. */
export async function nameOf(db: Queryable, address: string): Promise<RdnsRow | undefined> {
  const { rows } = await db.query<RdnsRow>(`select ${COLUMNS} from vps_rdns where address = $1`, [address])
  return rows[0]
}

/** The DNS has what was wanted then. What was wanted of it meanwhile is still to come. */
export async function keepPublished(tx: Transaction, { address, wanted }: RdnsRow): Promise<void> {
  await tx.query('update vps_rdns set done = $2, failure = null where address = $1', [address, wanted])
  await tx.query('delete from vps_rdns where address = $1 and hostname is null and done = wanted', [address])
}

/** It could not be published yet. What was wanted meanwhile is due as it was. */
export async function keepFailure(
  db: Queryable,
  { address, wanted }: RdnsRow,
  failure: string,
  dueAt: Date,
): Promise<void> {
  await db.query(
    `update vps_rdns set failure = $3, attempts = attempts + 1, due_at = $4 where address = $1 and wanted = $2`,
    [address, wanted, failure, dueAt],
  )
}
