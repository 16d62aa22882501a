import type { Chain, TransferReceipt } from '../chain/chain-port.ts'
import {
  type ChainHeights,
  type Confirmation,
  type ConfirmationPolicy,
  decideConfirmation,
} from '../chain/confirmation-policy.ts'
import { announce } from '../database/changes.ts'
import { inTransaction, type Queryable } from '../database/transaction.ts'
import { post } from '../ledger/post.ts'
import { recordEvent } from '../record-event.ts'
import type { Services } from '../services.ts'
import { creditPostings } from './deposit-postings.ts'
import { type Deposit, earlyCredits, isTransferOf, markCredited } from './deposit-store.ts'
import { invoiceById } from './invoice-store.ts'
import { lockPayment } from './lock-payment.ts'
import { prepareToPay, settleWhenCovered } from './settle-invoice.ts'

/**
 * Credits a seen deposit when the confirmation policy allows it: status, ledger and invoice in one transaction, once.
 * @param policy the chain's own when left out
 * @returns what the policy said; it is not enough either while receipts do not show the deposit
 */
export async function creditDeposit(
  services: Services,
  chain: Chain,
  deposit: Deposit,
  heights: ChainHeights,
  policy: ConfirmationPolicy = chain.settings.confirmation,
): Promise<Confirmation> {
  const decide = async (db: Queryable) =>
    decideConfirmation(
      policy,
      { amount: deposit.amount, block: deposit.block_number },
      heights,
      await earlyCredits(db, deposit.account_id),
    )
  const first = await decide(services.db)
  if (!first.enough) return first
  if (!(await isProven(chain, deposit))) return { ...first, enough: false }

  const { account_id: accountId, invoice_id: invoiceId } = deposit
  const prepared =
    invoiceId === null ? undefined : await prepareToPay(services, await invoiceById(services.db, invoiceId))
  return inTransaction(services.db, async (tx) => {
    const { owed } = await lockPayment(tx, services, { accountId, invoiceId })
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
    await recordEvent(tx, services, deposit.account_id, 'balance.credited', depositTold(chain, deposit))
    if (deposit.invoice_id) {
      await settleWhenCovered(tx, services, deposit.invoice_id, prepared)
      await announce(tx, deposit.invoice_id)
    }
    await announce(tx, deposit.account_id)
    return confirmation
  })
}

/** What an event says of a deposit. */
export const depositTold = ({ settings }: Chain, deposit: Deposit) => ({
  amount: deposit.amount,
  token: deposit.token,
  network: settings.network,
  tx_hash: deposit.tx_hash,
  invoice_id: deposit.invoice_id,
})

/** Unique for each time that a deposit was credited, or taken back: made of what tells it from others, not of its row. */
export function depositReference(kind: 'deposit' | 'reversal', deposit: Deposit, credits: number): string {
  const { chain_id, tx_hash, token_address, address, amount, ordinal } = deposit
  const time = credits > 1 ? `#${credits}` : ''
  return `${[kind, chain_id, tx_hash, token_address, address, amount, ordinal].join(':')}${time}`
}

/**
 * Receipts say, once more and by themselves, that this very transfer succeeded in this very block: one node's, and for
 * a large amount those of two and of every other that answers.
 */
async function isProven({ port, settings }: Chain, deposit: Deposit): Promise<boolean> {
  if (deposit.amount <= settings.confirmation.oneNodeUpTo) {
    return isReceiptOf(deposit, await port.receipt(deposit.tx_hash))
  }
  const receipts = await port.receipts(deposit.tx_hash)
  return (
    receipts.length >= Math.min(2, port.nodes) && receipts.every((receipt) => isReceiptOf(deposit, receipt))
  )
}

const isReceiptOf = (deposit: Deposit, receipt: TransferReceipt | undefined) =>
  receipt?.succeeded === true &&
  receipt.block.hash === deposit.block_hash &&
  receipt.transfers.some((transfer) => isTransferOf(deposit, transfer))
