import type { Transaction } from '../../database/transaction.ts'
import { toBePaid } from '../invoice-state.ts'
import { invoiceById } from '../invoice-store.ts'
import { PaymentRefused } from './payment-refused.ts'

/**
 * Checks once more, in the transaction that stores a payment for an invoice, that exactly this amount is still due:
 * another payer may have paid it while this payment was checked. To be called after the search for earlier payments.
 * @param amount micro-USD
 * @throws PaymentRefused `payment_arrived`
 */
export async function demandStillWanted(tx: Transaction, invoiceId: string, amount: bigint): Promise<void> {
  if (toBePaid(await invoiceById(tx, invoiceId)) === amount) return
  throw new PaymentRefused(
    'payment_arrived',
    'Another payment of this invoice arrived meanwhile; this one was not taken',
  )
}
