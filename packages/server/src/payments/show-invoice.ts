import { decideConfirmation } from '../chain/confirmation-policy.ts'
import type { Queryable } from '../database/transaction.ts'
import type { Services } from '../platform/services.ts'
import type { InvoiceView } from '../platform/slice-ports.ts'
import { type DepositWithHeights, depositsOfInvoices, earlyCredits } from './deposit-store.ts'
import { statusOf, toBePaid } from './invoice-state.ts'
import type { Invoice } from './invoice-store.ts'
import { offeredChains, paymentOptions } from './payment-options.ts'

/** The page where a person can pay this invoice and see nothing else. */
export const checkoutUrl = (services: Services, invoice: Pick<Invoice, 'secret'>) =>
  `${services.config.publicUrl}/checkout/${invoice.secret}`

/** Invoices of one account as the customer sees them. */
export async function showInvoices(
  db: Queryable,
  services: Services,
  invoices: Invoice[],
): Promise<InvoiceView[]> {
  if (!invoices[0]) return []
  const chains = services.chains.map((chain) => chain.settings)
  const offered = offeredChains(services)
  const ids = invoices.map((invoice) => invoice.id)
  const deposits = Map.groupBy(await depositsOfInvoices(db, ids), (deposit) => deposit.invoice_id!)
  const early = await earlyCredits(db, invoices[0].account_id)

  const showPayment = (deposit: DepositWithHeights): InvoiceView['payments'] => {
    const chain = chains.find((known) => known.chainId === deposit.chain_id)
    if (!chain) return []
    const counted = deposit.status === 'seen' ? early : { notSafe: 0n, notFinalized: 0n }
    const at = { amount: deposit.amount, block: deposit.block_number }
    const { confirmations, needs } = decideConfirmation(chain.confirmation, at, deposit, counted)
    return [
      {
        network: chain.network,
        token: deposit.token,
        tx_hash: deposit.tx_hash,
        log_index: deposit.log_index,
        amount: deposit.amount,
        confirmations,
        required: String(needs),
        status: deposit.status,
      },
    ]
  }

  return invoices.map((invoice) => {
    const missing = toBePaid(invoice)
    return {
      id: invoice.id,
      kind: invoice.kind,
      status: statusOf(invoice),
      amount: invoice.amount,
      received: invoice.received,
      currency: 'USD',
      order_id: invoice.order_id,
      service_id: invoice.service_id ?? invoice.ordered_id,
      closed_reason: invoice.closed_reason,
      checkout_url: checkoutUrl(services, invoice),
      created_at: invoice.created_at,
      expires_at: invoice.expires_at,
      paid_at: invoice.paid_at,
      payment_options: missing > 0n ? paymentOptions(offered, invoice.address, missing, invoice) : [],
      payments: (deposits.get(invoice.id) ?? []).flatMap(showPayment),
    }
  })
}

/** One invoice as the customer sees it. */
export async function showInvoice(db: Queryable, services: Services, invoice: Invoice): Promise<InvoiceView> {
  const [view] = await showInvoices(db, services, [invoice])
  return view!
}
