import { type Html, html } from '../html.ts'
import { type CheckoutView, type ExplorerOf, networkNames, type Payment } from './view.ts'

const statusText: Record<Payment['status'], (payment: Payment) => string> = {
  seen: ({ confirmations, required }) =>
    /^\d+$/.test(required)
      ? `Confirming, ${confirmations} of ${required}`
      : `Confirming, until the block is ${required}`,
  credited: () => 'Credited',
  orphaned: () => 'Taken back by the network',
}

/** The transfers that were seen for an invoice, with what became of each. */
export function paymentsList({ invoice }: CheckoutView, explorerOf: ExplorerOf): Html {
  if (invoice.payments.length === 0) return html``
  return html`<section class="card" aria-labelledby="payments-title">
    <h2 id="payments-title">Payments</h2>
    <ul class="payments">
      ${invoice.payments.map(
        (payment) => html`<li>
          <div><strong>${payment.amount} ${payment.token}</strong> on ${networkNames[payment.network]}</div>
          <div class="badge ${payment.status}">${statusText[payment.status](payment)}</div>
          ${transactionLink(payment, explorerOf)}
        </li>`,
      )}
    </ul>
  </section>`
}

/** The hash of a transaction, which leads to the explorer of its network where there is one. */
export function transactionLink(
  { network, tx_hash }: Pick<Payment, 'network' | 'tx_hash'>,
  explorerOf: ExplorerOf,
): Html {
  const hash = html`<code class="hash" translate="no">${tx_hash}</code>`
  const explorer = explorerOf(network)
  if (explorer === undefined) return hash
  return html`<a href="${explorer}/tx/${tx_hash}" target="_blank" rel="noopener noreferrer">${hash}</a>`
}
