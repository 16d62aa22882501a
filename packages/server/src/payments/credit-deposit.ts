import type { Chain } from '../chain/chain-port.ts'
import {
  type ChainHeights,
  type Confirmation,
  type ConfirmationPolicy,
  decideConfirmation,
} from '../chain/confirmation-policy.ts'
import { announce } from '../database/changes.ts'
import { inTransaction, type Queryable, type Transaction } from '../database/transaction.ts'
import { post } from '../ledger/post.ts'
import { recordEvent } from '../platform/record-event.ts'
import type { Services } from '../platform/services.ts'
import { creditPostings } from './deposit-postings.ts'
import { type Deposit, earlyCredits, markCredited, unwitnessedCredits } from './deposit-store.ts'
import { describeDeposit } from './describe-deposit.ts'
import { invoiceById } from './invoice-store.ts'
import { lockPayment } from './lock-payment.ts'
import { prepareToPay, settleWhenCovered } from './settle-invoice.ts'
import { testimonyOf } from './testimony.ts'

/** The limit on the word of a single endpoint for all accounts together, as a multiple of the limit for one account. */
const ACCOUNTS_ON_ONE_WORD = 10n

/**
 * Credits a seen deposit when the confirmation policy allows it: status, ledger and invoice in one transaction, once.
 * Two endpoints have to show it, or the chain's only endpoint. While no other endpoint answers, one suffices for small
 * amounts, which another has to confirm later.
 * @param policy by default the chain's own
 * @returns the decision of the policy, with `enough` false also while too few endpoints show the deposit
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
  const verdict = await testimonyOf(chain, deposit)
  if (verdict.kind === 'open' && verdict.contradicted)
    services.log.warn(
      { deposit: deposit.id, txHash: deposit.tx_hash },
      'The endpoints of a chain contradict each other about a deposit: it is not credited',
    )
  if (verdict.kind !== 'proven' && verdict.kind !== 'alone') return { ...first, enough: false }
  const witnessed = verdict.kind === 'proven'

  const { account_id: accountId, invoice_id: invoiceId } = deposit
  const prepared =
    invoiceId === null ? undefined : await prepareToPay(services, await invoiceById(services.db, invoiceId))
  return inTransaction(services.db, async (tx) => {
    const { owed } = await lockPayment(tx, services, { accountId, invoiceId })
    // Decided again under the lock: credits on another chain may have used up the account's limit meanwhile.
    const confirmation = await decide(tx)
    if (!confirmation.enough) return confirmation
    if (!witnessed && !(await isWithinOneWord(tx, deposit, policy))) return { ...confirmation, enough: false }
    const at = services.clock.now()
    const credits = await markCredited(tx, deposit, { witnessed, at })
    if (credits === undefined) return confirmation

    const invoice = invoiceId === null ? undefined : await invoiceById(tx, invoiceId)
    await post(tx, {
      id: services.newId('transaction'),
      kind: 'deposit',
      accountId: deposit.account_id,
      reference: depositReference('deposit', deposit, credits),
      description: describeDeposit(deposit, chain.settings.network, invoice),
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

/** The fields of an event about a deposit. */
export const depositTold = ({ settings }: Chain, deposit: Deposit) => ({
  amount: deposit.amount,
  token: deposit.token,
  network: settings.network,
  tx_hash: deposit.tx_hash,
  invoice_id: deposit.invoice_id,
})

/** Unique for each credit or reversal of a deposit: built from the fields that identify the transfer, not from its row. */
export function depositReference(kind: 'deposit' | 'reversal', deposit: Deposit, credits: number): string {
  const { chain_id, tx_hash, token_address, address, amount, ordinal } = deposit
  const time = credits > 1 ? `#${credits}` : ''
  return `${[kind, chain_id, tx_hash, token_address, address, amount, ordinal].join(':')}${time}`
}

/** Whether a single endpoint suffices for this deposit too, on top of the credits that already rest on one. */
async function isWithinOneWord(
  tx: Transaction,
  deposit: Deposit,
  { oneNodeUpTo }: ConfirmationPolicy,
): Promise<boolean> {
  const credited = await unwitnessedCredits(tx, deposit)
  return (
    credited.account + deposit.amount <= oneNodeUpTo &&
    credited.chain + deposit.amount <= oneNodeUpTo * ACCOUNTS_ON_ONE_WORD
  )
}
