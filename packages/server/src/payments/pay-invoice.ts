import { Invoice } from '@coinrack/contract/invoices.ts'
import { formatUsd } from '@coinrack/contract/wire.ts'
import { type Handler, preparedHandler } from '../dispatch/handler.ts'
import { PAY_INVOICE } from '../platform/errors.ts'
import { invoiceById, lockInvoice } from './invoice-store.ts'
import { lockPayment } from './lock-payment.ts'
import { markInvoicePaid } from './mark-invoice-paid.ts'
import { payFor, prepareToPay } from './settle-invoice.ts'
import { checkoutUrl, showInvoice } from './show-invoice.ts'

export const payInvoice: Handler<'payInvoice'> = preparedHandler(
  async ({ input, db, services }) =>
    prepareToPay(services, await invoiceById(db, input.invoice_id), { begins: input.method !== 'crypto' }),
  async ({ input, caller, asked, db, services, fail }, prepared) => {
    const { available, owed } = await lockPayment(db, services, {
      accountId: caller.accountId,
      invoiceId: input.invoice_id,
    })
    const invoice = await lockInvoice(db, input.invoice_id)
    const showIt = {
      nextSteps: [
        { tool: 'get_invoice', why: 'See the invoice as it is', arguments: { invoice_id: invoice.id } },
      ],
    }
    if (invoice.status !== 'unpaid') fail('invoice_closed', `The invoice is ${invoice.status}`, showIt)
    if (invoice.kind === 'topup' && input.method === 'balance') {
      fail('topup_by_crypto_only', 'A top-up cannot be paid from the balance that it fills', showIt)
    }
    // The customer is not asked to pay for an order that no host has room for.
    if (invoice.order_id !== null) await services.ordering.checkRoom(db, services, invoice.order_id)
    const covers = owed === 0n && available >= invoice.amount
    const method = input.method ?? (invoice.kind !== 'topup' && covers ? 'balance' : 'crypto')
    const checkout_url = checkoutUrl(services, invoice)
    if (method === 'crypto') {
      return { status: 'initiated', invoice: await showInvoice(db, services, invoice), checkout_url }
    }

    if (owed > 0n)
      fail('account_owes', `The account owes ${formatUsd(owed)} USD`, { fields: { owed: formatUsd(owed) } })
    if (!covers) {
      fail('insufficient_balance', `The balance of ${formatUsd(available)} USD does not cover the invoice`, {
        fix: PAY_INVOICE,
        nextSteps: [
          {
            tool: 'pay_invoice',
            why: 'See how to pay it in stablecoins',
            arguments: { invoice_id: invoice.id, method: 'crypto' },
          },
          { tool: 'topup_balance', why: 'Or top up the balance, then pay from it' },
        ],
        fields: {
          required: formatUsd(invoice.amount),
          balance: formatUsd(available),
          shortfall: formatUsd(invoice.amount - available),
          currency: 'USD',
          invoice: Invoice.encode(await showInvoice(db, services, invoice)),
          checkout_url,
          paid_from_balance: false,
        },
      })
    }
    const outcome = await payFor(db, services, invoice, prepared, { tokenId: caller.tokenId, asked })
    if (outcome === 'closed') fail('invoice_closed', 'What this invoice is for no longer awaits payment')
    await markInvoicePaid(db, services, invoice)
    const paid = await invoiceById(db, invoice.id)
    return { status: 'settled', invoice: await showInvoice(db, services, paid), checkout_url }
  },
)
