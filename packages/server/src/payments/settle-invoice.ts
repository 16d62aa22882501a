import type { ErrorCode } from '@coinrack/contract/errors.ts'
import type { Transaction } from '../database/transaction.ts'
import { OperationError } from '../errors.ts'
import { readBalance } from '../ledger/balance.ts'
import { InsufficientFunds } from '../ledger/post.ts'
import type { Services } from '../services.ts'
import { isCovered } from './invoice-state.ts'
import { type Invoice, lockInvoice } from './invoice-store.ts'
import { markInvoicePaid } from './mark-invoice-paid.ts'

/**
 * Closes an invoice as paid when what was credited for it covers it, and nothing is owed. What `lockPayment` locks must
 * be locked. What cannot begin now leaves its invoice unpaid: the money is in the balance, and this is tried again.
 */
export async function settleWhenCovered(
  tx: Transaction,
  services: Services,
  invoiceId: string,
): Promise<void> {
  const invoice = await lockInvoice(tx, invoiceId)
  if (invoice.status !== 'unpaid' || !isCovered(invoice)) return
  if (invoice.kind !== 'topup' && !(await tryToPay(tx, services, invoice))) return
  await markInvoicePaid(tx, services, invoice)
}

/** @returns false when it still awaits payment, and nothing was done */
async function tryToPay(tx: Transaction, services: Services, invoice: Invoice) {
  if ((await readBalance(tx, invoice.account_id)).owed > 0n) return false
  await tx.query('savepoint paying')
  try {
    if ((await payFor(tx, services, invoice)) !== 'capacity') return true
  } catch (error) {
    const refused = error instanceof OperationError && REFUSALS.includes(error.code)
    if (!(error instanceof InsufficientFunds) && !refused) throw error
  }
  await tx.query('rollback to savepoint paying')
  return false
}

const REFUSALS: ErrorCode[] = ['budget_exceeded', 'renewal_limit']

/**
 * Pays from the balance what an invoice is for.
 * @param tokenId whose budget it counts for: without it, that of the token that ordered
 */
export const payFor = (
  tx: Transaction,
  services: Services,
  { order_id, service_id, months }: Invoice,
  tokenId?: string,
): Promise<'paid' | 'closed' | 'capacity'> =>
  order_id === null
    ? services.ordering.renewFromBalance(tx, services, { serviceId: service_id!, months: months! }, tokenId)
    : services.ordering.payFromBalance(tx, services, order_id, tokenId)
