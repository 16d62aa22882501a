import type { EventType } from '@coinrack/contract/events.ts'
import type { Queryable } from '../database/transaction.ts'

/** The notices that an account with an e-mail address gets by mail. */
const NOTICES = [
  'balance.low',
  'order.failed',
  'vps.renewal_due',
  'vps.suspended',
  'vps.deleted',
  'invoice.settled_to_balance',
] as const satisfies EventType[]
const MOST = 5

/** The recent notices of an account without an e-mail address, newest first; none for an account with one. */
export async function noticesWithoutMail(
  db: Queryable,
  accountId: string,
  since: Date,
): Promise<{ type: string; at: Date }[]> {
  const { rows } = await db.query<{ type: string; at: Date }>(
    `select event.type, event.created_at as at from event join account on account.id = event.account_id
     where event.account_id = $1 and account.email is null and event.type = any($2) and event.created_at > $3
     order by seq desc limit $4`,
    [accountId, NOTICES, since, MOST],
  )
  return rows
}
