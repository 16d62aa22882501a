import type { Transaction } from '../database/transaction.ts'
import { OperationError } from '../errors.ts'
import { InsufficientFunds } from '../ledger/post.ts'
import type { Services } from '../services.ts'
import { isCovered } from './invoice-state.ts'
import { lockInvoice } from './invoice-store.ts'
import { markInvoicePaid } from './mark-invoice-paid.ts'

/**
 * Closes an invoice as paid when what was credited for it covers it. The customer's balance must be locked.
 * An order that cannot begin now leaves its invoice unpaid: the money is in the balance, and this is tried again.
 */
export async function settleWhenCovered(
  tx: Transaction,
  services: Services,
  invoiceId: string,
): Promise<void> {
  const invoice = await lockInvoice(tx, invoiceId)
  if (invoice.status !== 'unpaid' || !isCovered(invoice)) return
  if (invoice.order_id && !(await payOrder(tx, services, invoice.order_id))) return
  await markInvoicePaid(tx, services, invoice)
}

/** @returns false when the order still awaits payment, and nothing was done */
async function payOrder(tx: Transaction, services: Services, orderId: string) {
  await tx.query('savepoint pay_order')
  try {
    if ((await services.ordering.payFromBalance(tx, services, orderId)) !== 'capacity') return true
  } catch (error) {
    const overBudget = error instanceof OperationError && error.code === 'budget_exceeded'
    if (!(error instanceof InsufficientFunds) && !overBudget) throw error
  }
  await tx.query('rollback to savepoint pay_order')
  return false
}
