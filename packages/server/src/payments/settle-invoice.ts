import type { ErrorCode } from '@coinrack/contract/errors.ts'
import { formatUsd } from '@coinrack/contract/wire.ts'
import type { Transaction } from '../database/transaction.ts'
import { OperationError } from '../errors.ts'
import { readBalance } from '../ledger/balance.ts'
import { InsufficientFunds } from '../ledger/post.ts'
import type { Services } from '../services.ts'
import { isCovered } from './invoice-state.ts'
import { type Invoice, lockInvoice } from './invoice-store.ts'
import { markInvoicePaid } from './mark-invoice-paid.ts'
import { settleToBalance } from './settle-to-balance.ts'

/**
 * Closes an invoice when what was credited for it covers it: as paid when what it is for begins now, else to the
 * balance, where the money is. Nothing begins later. What `lockPayment` locks must be locked.
 */
export async function settleWhenCovered(
  tx: Transaction,
  services: Services,
  invoiceId: string,
): Promise<void> {
  const invoice = await lockInvoice(tx, invoiceId)
  if (invoice.status !== 'unpaid' || !isCovered(invoice)) return
  const refusal = invoice.kind === 'topup' ? undefined : await tryToPay(tx, services, invoice)
  if (refusal === undefined) await markInvoicePaid(tx, services, invoice)
  else await settleToBalance(tx, services, invoice, refusal)
}

/** @returns why it could not be begun, and nothing was done; undefined when it was */
async function tryToPay(tx: Transaction, services: Services, invoice: Invoice): Promise<string | undefined> {
  const { owed } = await readBalance(tx, invoice.account_id)
  if (owed > 0n) return `The account still owes ${formatUsd(owed)} USD from a reversed payment`
  await tx.query('savepoint paying')
  try {
    if ((await payFor(tx, services, invoice)) === 'paid') return undefined
    return 'What the invoice was for no longer awaits payment'
  } catch (error) {
    const reason = reasonOf(error)
    if (reason === undefined) throw error
    await tx.query('rollback to savepoint paying')
    return reason
  }
}

const REFUSALS: ErrorCode[] = ['budget_exceeded', 'renewal_limit', 'capacity']

function reasonOf(error: unknown): string | undefined {
  if (error instanceof InsufficientFunds)
    return 'A part of the payment had left the balance before the rest came'
  return error instanceof OperationError && REFUSALS.includes(error.code) ? error.message : undefined
}

/**
 * Pays from the balance what an invoice is for.
 * @param tokenId whose budget it counts for: without it, that of the token that ordered
 * @returns `closed` when it awaits no payment any more
 * @throws InsufficientFunds
 * @throws OperationError `budget_exceeded`, `renewal_limit`, `capacity`; nothing was charged
 */
export const payFor = (
  tx: Transaction,
  services: Services,
  { order_id, service_id, months }: Invoice,
  tokenId?: string,
): Promise<'paid' | 'closed'> =>
  order_id === null
    ? services.ordering.renewFromBalance(tx, services, { serviceId: service_id!, months: months! }, tokenId)
    : services.ordering.payFromBalance(tx, services, order_id, tokenId)
