import type { Receipt } from '@coinrack/contract/receipts.ts'
import { formatUsd } from '@coinrack/contract/wire.ts'
import type { Queryable } from '../database/transaction.ts'
import type { Call, Handler } from '../dispatch/handler.ts'
import type { Services } from '../platform/services.ts'
import { isCovered } from './invoice-state.ts'
import { type Invoice, invoiceById } from './invoice-store.ts'
import { type ChargeRow, chargesOf, creditedFor, payerOf } from './receipt-store.ts'
import { seeInvoice } from './see-invoice.ts'

export const getReceipt: Handler<'getReceipt'> = async ({ input, db, services, fail }) => {
  const invoice = await invoiceById(db, input.invoice_id)
  if (invoice.status !== 'paid')
    throw fail('receipt_not_ready', `The invoice is ${invoice.status}`, seeInvoice(invoice.id))
  const charges = invoice.kind === 'topup' ? [] : await chargesOf(db, invoice)
  checkSettled(fail, invoice, charges)
  return services.receiptKey.sign(await receiptOf(db, services, invoice, charges))
}

/** Refuses a receipt for a payment that its chain took back, or for an invoice that is not charged yet. */
function checkSettled(fail: Call<'getReceipt'>['fail'], invoice: Invoice, charges: ChargeRow[]): void {
  if (invoice.kind === 'topup' && !isCovered(invoice)) {
    fail('receipt_not_ready', 'A payment of this invoice was taken back by its chain', seeInvoice(invoice.id))
  }
  if (invoice.kind !== 'topup' && charges.length === 0) {
    fail(
      'receipt_not_ready',
      'Nothing was charged for this invoice: it is not delivered yet, or never was',
      seeInvoice(invoice.id),
    )
  }
}

async function receiptOf(
  db: Queryable,
  { chains, clock, config }: Services,
  invoice: Invoice,
  charges: ChargeRow[],
): Promise<Receipt> {
  const { email, first_name, last_name } = await payerOf(db, invoice.account_id)
  const networkOf = (chainId: number) => chains.find(({ settings }) => settings.chainId === chainId)?.settings
  return {
    version: 'coinrack-receipt-1',
    issuer: config.publicUrl,
    issued_at: clock.now().toISOString(),
    invoice_id: invoice.id,
    kind: invoice.kind,
    account_id: invoice.account_id,
    email,
    name: [first_name, last_name].filter(Boolean).join(' ') || null,
    amount: formatUsd(invoice.amount),
    currency: 'USD',
    paid_at: invoice.paid_at!.toISOString(),
    charges: charges.map(({ id, description, amount, created_at }) => ({
      transaction_id: id,
      description,
      amount: formatUsd(amount),
      charged_at: created_at.toISOString(),
    })),
    payments: (await creditedFor(db, invoice.id)).flatMap((deposit) => {
      const network = networkOf(deposit.chain_id)?.network
      if (!network) return []
      return {
        network,
        token: deposit.token as Receipt['payments'][number]['token'],
        tx_hash: deposit.tx_hash,
        log_index: deposit.log_index,
        amount: formatUsd(deposit.amount),
        credited_at: deposit.credited_at.toISOString(),
      }
    }),
  }
}
