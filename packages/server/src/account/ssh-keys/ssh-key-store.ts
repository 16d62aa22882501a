import type { SshKey } from '@coinrack/contract/ssh-keys.ts'
import type { z } from 'zod'
import type { Queryable, Transaction } from '../../database/transaction.ts'
import type { SshKeys } from '../../platform/slice-ports.ts'

export interface SshKeyRow {
  id: string
  account_id: string
  name: string
  line: string
  fingerprint: string
  created_at: Date
}

const COLUMNS = 'id, account_id, name, line, fingerprint, created_at'

/** Newest first, one more than `limit` when there are more. */
export async function sshKeysOf(
  db: Queryable,
  accountId: string,
  limit: number,
  cursor: string | undefined,
): Promise<SshKeyRow[]> {
  const { rows } = await db.query<SshKeyRow>(
    `select ${COLUMNS} from ssh_key where account_id = $1 and ($3::text is null or id < $3)
     order by id desc limit $2`,
    [accountId, limit + 1, cursor ?? null],
  )
  return rows
}

/** The part of the stored keys that machines need. */
export const sshKeys: SshKeys = {
  async lineOf(db, accountId, id) {
    const { rows } = await db.query<Pick<SshKeyRow, 'line'>>(
      'select line from ssh_key where id = $2 and account_id = $1',
      [accountId, id],
    )
    return rows[0]?.line
  },
}

/**
 * Stores a key, or finds the one that is stored already.
 * @returns undefined when the account has `most` keys: of several at the same moment none is one too many
 */
export async function storeSshKey(
  tx: Transaction,
  row: SshKeyRow,
  most: number,
): Promise<SshKeyRow | undefined> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`ssh-keys:${row.account_id}`])
  const { rows } = await tx.query<SshKeyRow>(
    `with stored as (
       insert into ssh_key (${COLUMNS})
       select $1, $2, $3, $4, $5, $6 where (select count(*) from ssh_key where account_id = $2) < $7
       on conflict (account_id, fingerprint) do nothing
       returning ${COLUMNS}
     )
     select * from stored
     union all
     select ${COLUMNS} from ssh_key where account_id = $2 and fingerprint = $5`,
    [row.id, row.account_id, row.name, row.line, row.fingerprint, row.created_at, most],
  )
  return rows[0]
}

export async function removeSshKey(tx: Transaction, id: string): Promise<SshKeyRow | undefined> {
  const { rows } = await tx.query<SshKeyRow>(`delete from ssh_key where id = $1 returning ${COLUMNS}`, [id])
  return rows[0]
}

/** A key as its owner sees it. */
export const sshKeyView = (row: SshKeyRow): z.output<typeof SshKey> => ({
  id: row.id,
  name: row.name,
  type: row.line.split(' ')[0]!,
  fingerprint: row.fingerprint,
  public_key: row.line,
  created_at: row.created_at,
})
