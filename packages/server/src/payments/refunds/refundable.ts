import type { TokenSymbol } from '../../chain/chain-settings.ts'
import type { Queryable } from '../../database/transaction.ts'
import { networkOf } from './refund-store.ts'

/** The amount that can be refunded in one token on one network, in micro-USD. */
export interface Refundable {
  network: ReturnType<typeof networkOf>
  token: TokenSymbol
  amount: bigint
}

/**
 * The refundable part of an account's money, by the network and token of its deposits: deposits that no chain can take
 * back, less earlier refunds, and at most the unspent balance. Money that the operator granted counts as spent last, so
 * that none of it is paid out. Networks without a final deposit are not listed.
 */
export async function refundableOf(db: Queryable, accountId: string): Promise<Refundable[]> {
  const { rows } = await db.query<{ chain_id: number; token: TokenSymbol; refundable: bigint }>(
    `select chain_id, token, least(came - coalesce(went, 0), (
       select greatest(0, available - greatest(0, (
          select coalesce(-sum(amount), 0) from ledger_entry join ledger_transaction on id = transaction_id
          where account_id = $1 and ledger_account = 'house.adjustments'
        ))) from customer_balance where account_id = $1
     ))::bigint as refundable
     from (
       select chain_id, token, sum(amount) as came from deposit
       where account_id = $1 and status = 'credited' and final group by chain_id, token
     ) deposits
     left join (
       select chain_id, token, sum(amount) as went from refund
       where account_id = $1 and status in ('requested', 'approved', 'sent') group by chain_id, token
     ) refunds using (chain_id, token)
     order by chain_id, token`,
    [accountId],
  )
  return rows.map(({ chain_id, token, refundable }) => ({
    network: networkOf(chain_id),
    token,
    amount: refundable,
  }))
}
