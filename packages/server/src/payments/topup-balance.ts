import { Invoice } from '@coinrack/contract/invoices.ts'
import { formatUsd } from '@coinrack/contract/wire.ts'
import { zeroAddress } from 'viem'
import type { Handler } from '../dispatch/handler.ts'
import { checkTopup } from './check-topup.ts'
import { createTopupInvoice } from './create-invoice.ts'
import { unpaidTopup } from './invoice-store.ts'
import { offeredChains, paymentOptions } from './payment-options.ts'
import { checkoutUrl, showInvoice } from './show-invoice.ts'

export const topupBalance: Handler<'topupBalance'> = async ({ input, caller, db, services, fail }) => {
  const { amount } = input
  checkTopup(services.config, amount)
  const only = { network: input.network ?? null, token: input.token ?? null }
  const chains = offeredChains(services)
  if (paymentOptions(chains, zeroAddress, amount, only).length === 0) {
    fail(
      'payment_method_unavailable',
      `There is no ${only.token ?? 'token'} on ${only.network ?? 'any network'} here`,
    )
  }

  const invoice = await createTopupInvoice(db, services, { accountId: caller.accountId, amount, ...only })
  if (invoice) {
    return { invoice: await showInvoice(db, services, invoice), checkout_url: checkoutUrl(services, invoice) }
  }
  const open = await unpaidTopup(db, caller.accountId)
  if (!open) throw new Error('The top-up that was in the way is closed meanwhile')
  return fail('topup_pending', `The top-up ${open.id} of ${formatUsd(open.amount)} USD is not paid yet`, {
    fields: {
      invoice: Invoice.encode(await showInvoice(db, services, open)),
      checkout_url: checkoutUrl(services, open),
    },
    nextSteps: [
      { tool: 'get_invoice', why: 'See how to pay it', arguments: { invoice_id: open.id } },
      { tool: 'cancel_invoice', why: 'Cancel it to make another', arguments: { invoice_id: open.id } },
    ],
  })
}
