import type { Chain } from '../chain/chain-port.ts'
import { announce } from '../database/changes.ts'
import { inTransaction } from '../database/transaction.ts'
import { lockBalance } from '../ledger/balance.ts'
import { post } from '../ledger/post.ts'
import { recordEvent } from '../record-event.ts'
import type { Services } from '../services.ts'
import { depositReference, depositTold } from './credit-deposit.ts'
import { reversalPostings } from './deposit-postings.ts'
import { type Deposit, markOrphaned } from './deposit-store.ts'

/**
 * The chain dropped the deposit: it is orphaned, and a credit of it is taken back by a posting of its own. What the
 * balance no longer covers is owed.
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
        description: `${deposit.token} taken back by a reorganisation of ${chain.settings.network}`,
        postings: reversalPostings(deposit.amount, available, deposit.chain_id, deposit.token),
        at: services.clock.now(),
      })
      await recordEvent(tx, services, deposit.account_id, 'balance.reversed', depositTold(chain, deposit))
    }
    if (deposit.invoice_id) await announce(tx, deposit.invoice_id)
    await announce(tx, deposit.account_id)
  })
  services.log.warn({ deposit: deposit.id, txHash: deposit.tx_hash }, 'A deposit was dropped by its chain')
}
