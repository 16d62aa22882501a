import type { TokenSymbol } from '../../chain/chain-settings.ts'
import { inTransaction } from '../../database/transaction.ts'
import type { Operator } from '../command.ts'

/** A deposit address, lower-case, and whose it is. */
export interface OurAddress {
  address: string
  counter: bigint
  /** Null for the one that all pay to who buy without an account. */
  account_id: string | null
}

/** The amount of one token that arrived at one address; micro-USD. */
export interface Received {
  address: string
  token: TokenSymbol
  token_address: string
  credited: bigint
  /** Seen, and not credited yet. */
  waiting: bigint
}

/** How much one token's treasury holds for one account, by the ledger and by deposits and refunds; micro-USD. */
export interface HeldFor {
  account_id: string
  token: string
  ledger: bigint
  deposits: bigint
}

/** One chain as the database has it. */
export interface Books {
  /** The service has looked through all blocks up to this one. */
  scanned: number
  /** The first block with a deposit. */
  first: number | undefined
  addresses: OurAddress[]
  received: Received[]
  held: HeldFor[]
  /** The amounts that left each address for the treasury, in blocks that are final. */
  flushed: { address: string; token_address: string; amount: bigint }[]
}

/** @returns undefined for a chain that the service has never looked at */
export async function readBooks(
  operator: Operator,
  chainId: number,
  head: number,
): Promise<Books | undefined> {
  return inTransaction(await operator.db(), async (tx) => {
    await tx.query('set transaction isolation level repeatable read')
    const cursor = await tx.query<{ scanned: number }>(
      'select least(scanned_number, $2)::integer as scanned from chain_cursor where chain_id = $1',
      [chainId, head],
    )
    if (!cursor.rows[0]) return undefined
    const { scanned } = cursor.rows[0]
    const first = await tx.query<{ first: number | null }>(
      'select min(block_number)::integer as first from deposit where chain_id = $1',
      [chainId],
    )
    const addresses = await tx.query<OurAddress>(
      'select address, counter, account_id from deposit_address order by counter',
    )
    const received = await tx.query<Received>(
      `select address, token, token_address,
         coalesce(sum(amount) filter (where status = 'credited'), 0)::bigint as credited,
         coalesce(sum(amount) filter (where status = 'seen'), 0)::bigint as waiting
       from deposit where chain_id = $1 and block_number <= $2 and status <> 'orphaned'
       group by address, token, token_address`,
      [chainId, scanned],
    )
    const held = await tx.query<HeldFor>(
      `select account_id, token, coalesce(ledger, 0) as ledger, coalesce(deposits, 0) as deposits
       from (
         select account_id, split_part(ledger_account, '.', 3) as token, -sum(amount)::bigint as ledger
         from ledger_entry join ledger_transaction on id = transaction_id
         where starts_with(ledger_account, $2)
         group by account_id, ledger_account
       ) entries
       full join (
         select account_id, token, sum(amount)::bigint as deposits
         from (
           select account_id, token, amount from deposit where chain_id = $1 and status = 'credited'
           union all
           select account_id, token, -amount from refund where chain_id = $1 and status = 'sent'
         ) moved group by account_id, token
       ) credited using (account_id, token)`,
      [chainId, `treasury.${chainId}.`],
    )
    const flushed = await tx.query<Books['flushed'][number]>(
      `select address, token_address, sum(amount)::bigint as amount
       from treasury_flush where chain_id = $1 group by address, token_address`,
      [chainId],
    )
    return {
      scanned,
      first: first.rows[0]?.first ?? undefined,
      addresses: addresses.rows,
      received: received.rows,
      held: held.rows,
      flushed: flushed.rows,
    }
  })
}
