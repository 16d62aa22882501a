import type { Transaction } from '../../database/transaction.ts'
import { toBePaid } from '../invoice-state.ts'
import { invoiceById } from '../invoice-store.ts'
import { PaymentRefused } from './payment-refused.ts'

/**
 * Asks once more, in the transaction that stores a payment of an invoice, whether so much of it is still to be paid:
 * another payer may have paid it meanwhile. To be called after earlier payments were looked for.
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
