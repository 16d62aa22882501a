import { type Html, html } from '../html.ts'
import { brand, wholePage } from '../shell/whole-page.ts'
import { transactionLink } from './payments-list.ts'
import { type CheckoutView, type ExplorerOf, networkNames } from './view.ts'

const TITLES = {
  topup: 'Top-up of a prepaid balance',
  order: 'Order of a server',
  renewal: 'Renewal of a server',
}

export interface PaymentReceiptOptions {
  /** The path of the checkout page. */
  path: string
  publicUrl: string
  explorerOf: ExplorerOf
  demo: boolean
  style: string
}

/**
 * The payments for an invoice, as a page for the payer to print. It does not say whose account it is: that is in
 * the signed receipt, which the account itself gets.
 */
export function paymentReceiptPage({ invoice }: CheckoutView, options: PaymentReceiptOptions): string {
  const { path, publicUrl, explorerOf, demo, style } = options
  const credited = invoice.payments.filter(({ status }) => status === 'credited')
  return wholePage(
    `Receipt ${invoice.id}`,
    { style, scripts: [] },
    html`${brand(demo)}
  <main class="receipt">
    <section class="card">
      <h1>Receipt</h1>
      <p>${TITLES[invoice.kind]} at ${publicUrl}</p>
      <p class="total">${invoice.amount} USD</p>
      <dl>
        <dt>Invoice</dt><dd><code translate="no">${invoice.id}</code></dd>
        <dt>Paid</dt><dd>${time(invoice.paid_at!)}</dd>
      </dl>
    </section>
    <section class="card">
      <h2>Received</h2>
      ${credited.length === 0 && html`<p>It was paid from the balance of the account.</p>`}
      <ul class="payments">${credited.map(
        (payment) => html`<li>
        <div><strong>${payment.amount} ${payment.token}</strong> on ${networkNames[payment.network]}</div>
        ${transactionLink(payment, explorerOf)}
      </li>`,
      )}</ul>
    </section>
    <footer>
      <p>This receipt does not name the account. Its owner gets one that does, signed, with <a href="/docs#getReceipt">get_receipt</a>.</p>
      <p class="back"><a href="${path}">Back to the invoice</a></p>
    </footer>
  </main>`,
  )
}

const time = (iso: string): Html =>
  html`<time datetime="${iso}">${iso.replace(/^(.{10})T(.{5}).*$/, '$1 $2')} UTC</time>`
