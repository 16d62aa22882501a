import type { ErrorCode } from '@coinrack/contract/errors.ts'
import { formatUsd } from '@coinrack/contract/wire.ts'
import type { Transaction } from '../database/transaction.ts'
import { readBalance } from '../ledger/balance.ts'
import { InsufficientFunds } from '../ledger/post.ts'
import { OperationError } from '../platform/errors.ts'
import type { OrderPreparation } from '../platform/host-facts.ts'
import type { Services } from '../platform/services.ts'
import type { Payer } from '../platform/slice-ports.ts'
import { isCovered } from './invoice-state.ts'
import { type Invoice, lockInvoice } from './invoice-store.ts'
import { markInvoicePaid } from './mark-invoice-paid.ts'
import { settleToBalance } from './settle-to-balance.ts'

/**
 * Closes an invoice when its credited deposits cover it: as paid when its order or renewal begins now, else as settled
 * to the balance, where the money is. Nothing begins later. The caller must hold the locks of `lockPayment`.
 * @param prepared the result of `prepareToPay`
 */
export async function settleWhenCovered(
  tx: Transaction,
  services: Services,
  invoiceId: string,
  prepared: OrderPreparation | undefined,
): Promise<void> {
  const invoice = await lockInvoice(tx, invoiceId)
  if (invoice.status !== 'unpaid' || !isCovered(invoice)) return
  const refusal = invoice.kind === 'topup' ? undefined : await tryToPay(tx, services, invoice, prepared)
  if (refusal === undefined) await markInvoicePaid(tx, services, invoice)
  else await settleToBalance(tx, services, invoice, refusal)
}

/** @returns why the order or renewal could not begin, in which case nothing was done; undefined when it began */
async function tryToPay(
  tx: Transaction,
  services: Services,
  invoice: Invoice,
  prepared: OrderPreparation | undefined,
): Promise<string | undefined> {
  const { owed } = await readBalance(tx, invoice.account_id)
  if (owed > 0n) return `The account still owes ${formatUsd(owed)} USD from a reversed payment`
  await tx.query('savepoint paying')
  try {
    if ((await payFor(tx, services, invoice, prepared)) === 'paid') return undefined
    return 'What the invoice was for no longer awaits payment'
  } catch (error) {
    const reason = reasonOf(error)
    if (reason === undefined) throw error
    await tx.query('rollback to savepoint paying')
    return reason
  }
}

const REFUSALS: ErrorCode[] = ['budget_exceeded', 'approval_needed', 'renewal_limit', 'capacity']

function reasonOf(error: unknown): string | undefined {
  if (error instanceof InsufficientFunds)
    return 'A part of the payment had left the balance before the rest came'
  return error instanceof OperationError && REFUSALS.includes(error.code) ? error.message : undefined
}

/**
 * Prepares what the transaction that pays an invoice needs beforehand.
 * @param begins false when the caller only asks whether there is room
 * @returns undefined for an invoice without an order, which needs no preparation
 */
export const prepareToPay = async (
  services: Services,
  { order_id }: Pick<Invoice, 'order_id'>,
  { begins } = { begins: true },
): Promise<OrderPreparation | undefined> =>
  order_id === null ? undefined : services.ordering.prepareOrder(services, { begins })

/**
 * Pays for the order or renewal of an invoice from the balance.
 * @param prepared the result of `prepareToPay`
 * @param payer the token whose budget is charged, with its call; by default the token that ordered
 * @returns `closed` when the order or renewal no longer awaits payment
 * @throws InsufficientFunds
 * @throws OperationError `budget_exceeded`, `approval_needed`, `renewal_limit`, `capacity`; nothing was charged
 */
export const payFor = (
  tx: Transaction,
  services: Services,
  { id: invoiceId, order_id, service_id, months }: Invoice,
  prepared: OrderPreparation | undefined,
  payer?: Payer,
): Promise<'paid' | 'closed'> =>
  order_id === null
    ? services.ordering.renewFromBalance(
        tx,
        services,
        { serviceId: service_id!, months: months! },
        { invoiceId, payer },
      )
    : services.ordering.payFromBalance(tx, services, prepared!, order_id, { invoiceId, payer })
