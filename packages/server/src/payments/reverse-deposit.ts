import { formatUsd } from '@coinrack/contract/wire.ts'
import type { Chain } from '../chain/chain-port.ts'
import { announce } from '../database/changes.ts'
import { inTransaction, type Transaction } from '../database/transaction.ts'
import { lockBalance, readBalance } from '../ledger/balance.ts'
import { post } from '../ledger/post.ts'
import { queueMail } from '../platform/queue-mail.ts'
import { recordEvent } from '../platform/record-event.ts'
import type { Services } from '../platform/services.ts'
import { depositReference, depositTold } from './credit-deposit.ts'
import { reversalPostings } from './deposit-postings.ts'
import { type Deposit, markOrphaned } from './deposit-store.ts'

/**
 * Marks a deposit that the chain dropped as orphaned, and takes back its credit by a posting of its own. What the
 * balance no longer covers becomes debt.
 */
export async function reverseDeposit(services: Services, chain: Chain, deposit: Deposit): Promise<void> {
  await inTransaction(services.db, async (tx) => {
    const { available } = await lockBalance(tx, deposit.account_id)
    const before = await markOrphaned(tx, deposit)
    if (!before) return
    if (before.status === 'credited') {
      await post(tx, {
        id: services.newId('transaction'),
        kind: 'deposit_reversal',
        accountId: deposit.account_id,
        reference: depositReference('reversal', deposit, before.credits),
        description: `${deposit.token} taken back by a reorganisation of ${chain.settings.network}, transaction ${deposit.tx_hash}`,
        postings: reversalPostings(deposit.amount, available, deposit.chain_id, deposit.token),
        at: services.clock.now(),
      })
      await recordEvent(tx, services, deposit.account_id, 'balance.reversed', depositTold(chain, deposit))
      await tellDebt(tx, services, deposit)
    }
    if (deposit.invoice_id) await announce(tx, deposit.invoice_id)
    await announce(tx, deposit.account_id)
  })
  services.log.warn({ deposit: deposit.id, txHash: deposit.tx_hash }, 'A deposit was dropped by its chain')
}

/** Mails the owner about a debt that the balance did not cover: services are suspended for it after a day. */
async function tellDebt(tx: Transaction, services: Services, { account_id, amount }: Deposit): Promise<void> {
  const { owed } = await readBalance(tx, account_id)
  if (owed === 0n) return
  const { rows } = await tx.query<{ email: string | null }>('select email from account where id = $1', [
    account_id,
  ])
  await queueMail(tx, services, {
    to: rows[0]!.email,
    subject: `Your account owes ${formatUsd(owed)} USD`,
    text: `A payment of ${formatUsd(amount)} USD to your account at ${services.config.publicUrl} was taken back by its chain, and the balance did not cover that: ${formatUsd(owed)} USD are owed.

Nothing new can be ordered or renewed until it is paid; after 24 hours services are suspended. To pay it, call topup_balance: arriving money pays what is owed first.
`,
  })
}
