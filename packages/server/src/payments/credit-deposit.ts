import type { Chain } from '../chain/chain-port.ts'
import { type ChainHeights, type Confirmation, decideConfirmation } from '../chain/confirmation-policy.ts'
import { announce } from '../database/changes.ts'
import { inTransaction, type Queryable } from '../database/transaction.ts'
import { lockBalance } from '../ledger/balance.ts'
import { post } from '../ledger/post.ts'
import type { Services } from '../services.ts'
import { creditPostings } from './deposit-postings.ts'
import { type Deposit, earlyCredits, markCredited } from './deposit-store.ts'
import { settleWhenCovered } from './settle-invoice.ts'

/**
 * Credits a seen deposit when the confirmation policy allows it: status, ledger and invoice in one transaction, once.
 * @returns what the policy said
 */
export async function creditDeposit(
  services: Services,
  chain: Chain,
  deposit: Deposit,
  heights: ChainHeights,
): Promise<Confirmation> {
  const decide = async (db: Queryable) =>
    decideConfirmation(
      chain.settings.confirmation,
      { amount: deposit.amount, block: deposit.block_number },
      heights,
      await earlyCredits(db, deposit.account_id),
    )
  const first = await decide(services.db)
  if (!first.enough || !(await isProven(chain, deposit))) return first

  return inTransaction(services.db, async (tx) => {
    const { owed } = await lockBalance(tx, deposit.account_id)
    // Decided again under the lock: credits on another chain may have used up the account's limit meanwhile.
    const confirmation = await decide(tx)
    if (!confirmation.enough) return confirmation
    const at = services.clock.now()
    const credits = await markCredited(tx, deposit, at)
    if (credits === undefined) return confirmation

    await post(tx, {
      id: services.newId('transaction'),
      kind: 'deposit',
      accountId: deposit.account_id,
      reference: depositReference('deposit', deposit, credits),
      description: `${deposit.token} received on ${chain.settings.network}`,
      postings: creditPostings(deposit.amount, owed, deposit.chain_id, deposit.token),
      at,
    })
    if (deposit.invoice_id) {
      await settleWhenCovered(tx, services, deposit.invoice_id)
      await announce(tx, deposit.invoice_id)
    }
    await announce(tx, deposit.account_id)
    return confirmation
  })
}

/** Unique for each time that a deposit was credited, or taken back. */
export const depositReference = (kind: 'deposit' | 'reversal', deposit: Deposit, credits: number) =>
  `${kind}:${deposit.chain_id}:${deposit.tx_hash}:${deposit.log_index}${credits > 1 ? `#${credits}` : ''}`

/** The receipt says, once more and by itself, that this very transfer succeeded in this very block. */
async function isProven(chain: Chain, deposit: Deposit): Promise<boolean> {
  const receipt = await chain.port.receipt(deposit.tx_hash)
  if (!receipt?.succeeded || receipt.block.hash !== deposit.block_hash) return false
  return receipt.transfers.some(
    (transfer) =>
      transfer.logIndex === deposit.log_index &&
      transfer.token === deposit.token_address &&
      transfer.to === deposit.address &&
      transfer.value === deposit.amount,
  )
}
