import { formatUsd } from '@coinrack/contract/wire.ts'
import type { Transaction } from '../database/transaction.ts'
import { queueMail } from '../platform/queue-mail.ts'
import { recordEvent } from '../platform/record-event.ts'
import type { Services } from '../platform/services.ts'
import { closeInvoice, type Invoice } from './invoice-store.ts'

/**
 * Closes an invoice whose money came when its order or renewal could not begin: the money stays on the balance, an order
 * fails, and the account is told why, by event and by mail.
 */
export async function settleToBalance(
  tx: Transaction,
  services: Services,
  invoice: Invoice,
  reason: string,
): Promise<void> {
  await closeInvoice(tx, invoice.id, 'settled_to_balance', services.clock.now(), reason)
  await recordEvent(tx, services, invoice.account_id, 'invoice.settled_to_balance', {
    invoice_id: invoice.id,
    order_id: invoice.order_id,
    service_id: invoice.service_id,
    received: invoice.received,
    reason,
  })
  if (invoice.order_id !== null) await services.ordering.failOrder(tx, services, invoice.order_id, reason)
  else await mailOwner(tx, services, invoice, reason)
}

async function mailOwner(
  tx: Transaction,
  services: Services,
  invoice: Invoice,
  reason: string,
): Promise<void> {
  const { rows } = await tx.query<{ email: string | null; hostname: string }>(
    `select email, hostname from account join vps on vps.account_id = account.id where vps.id = $1`,
    [invoice.service_id],
  )
  const { email, hostname } = rows[0]!
  const received = `${formatUsd(invoice.received)} USD`
  await queueMail(tx, services, {
    to: email,
    subject: `${hostname} was not renewed`,
    text: `VPS ${hostname} (${invoice.service_id}) at ${services.config.publicUrl}

${received} arrived for invoice ${invoice.id}, but the VPS was not renewed with it: ${reason}.
The payment was credited to your account, and nothing was charged for the renewal. See get_balance and get_vps_status.
`,
  })
}
