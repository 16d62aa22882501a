import { inTransaction, type Transaction } from '../database/transaction.ts'
import { ableDebtors, type CustomerBalance, lockBalance } from '../ledger/balance.ts'
import { post } from '../ledger/post.ts'
import type { Services } from '../platform/services.ts'

/**
 * Pays what accounts owe from money that came otherwise than by a deposit: a refund, a released hold, a credit of the
 * operator. Takes no input; safe to run twice.
 */
export async function collectDebts(services: Services): Promise<void> {
  for (const accountId of await ableDebtors(services.db)) {
    await inTransaction(services.db, (tx) => collectDebt(tx, services, accountId))
  }
}

async function collectDebt(tx: Transaction, { newId, clock }: Services, accountId: string): Promise<void> {
  const { available, owed }: CustomerBalance = await lockBalance(tx, accountId)
  const amount = available < owed ? available : owed
  if (amount === 0n) return
  await post(tx, {
    id: newId('transaction'),
    kind: 'debt_payment',
    accountId,
    description: 'What was owed for a payment that its chain took back',
    postings: [{ from: 'customer.available', to: 'customer.owed', amount }],
    at: clock.now(),
  })
}
