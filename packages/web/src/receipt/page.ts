import type { SignedReceipt } from '@coinrack/contract/receipts.ts'
import { type Html, html } from '../html.ts'

const TITLES = { topup: 'Top-up of a prepaid balance', order: 'Order', renewal: 'Renewal' }

/** Stands in the page itself: kept as a file, it is whole. */
const STYLE = `
:root { color-scheme: light; font: 15px/1.5 system-ui, sans-serif; color: #16181d; background: #fff }
body { max-width: 44rem; margin: 0 auto; padding: 2rem 1rem }
h1 { font-size: 1.6rem; margin: 0 } h2 { font-size: 1rem; margin: 2rem 0 .5rem }
.total { font-size: 2rem; font-variant-numeric: tabular-nums; margin: 1rem 0 }
dl { display: grid; grid-template-columns: 9rem 1fr; gap: .25rem 1rem; margin: 0 } dt { color: #5b6472 } dd { margin: 0; overflow-wrap: anywhere }
table { width: 100%; border-collapse: collapse } td, th { text-align: left; vertical-align: top; padding: .4rem .5rem .4rem 0; border-bottom: 1px solid #d7dbe2; overflow-wrap: anywhere }
td:last-child, th:last-child { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
code { font: .85em ui-monospace, monospace; overflow-wrap: anywhere }
footer { margin-top: 2rem; color: #5b6472; font-size: .85rem }
@media print { @page { margin: 2cm } body { max-width: none; padding: 0 } tr, dl { break-inside: avoid } }
`

/** A receipt as a page to print, which needs nothing else. */
export function receiptPage({ receipt, signature }: SignedReceipt): string {
  return html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>Receipt ${receipt.invoice_id}</title>
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="robots" content="noindex">
  <link rel="icon" href="data:,">
  <style>${STYLE}</style>
</head>
<body>
  <h1>Receipt</h1>
  <p>${TITLES[receipt.kind]} at ${receipt.issuer}</p>
  <p class="total">${receipt.amount} ${receipt.currency}</p>
  <dl>
    ${entry('Invoice', receipt.invoice_id)}
    ${entry('Paid', time(receipt.paid_at))}
    ${entry('Paid by', [receipt.name, receipt.email].filter(Boolean).join(', ') || 'A wallet')}
    ${entry('Account', receipt.account_id)}
    ${entry('Issued', time(receipt.issued_at))}
  </dl>
  ${
    receipt.charges.length > 0 &&
    html`<h2>Charged to the balance</h2>
  <table><tr><th>What</th><th>When</th><th>${receipt.currency}</th></tr>${receipt.charges.map(
    (charge) =>
      html`<tr><td>${charge.description}<br><code>${charge.transaction_id}</code></td><td>${time(charge.charged_at)}</td><td>${charge.amount}</td></tr>`,
  )}</table>`
  }
  ${
    receipt.payments.length > 0 &&
    html`<h2>Received on chain</h2>
  <table><tr><th>Transfer</th><th>When</th><th>${receipt.currency}</th></tr>${receipt.payments.map(
    (payment) =>
      html`<tr><td>${payment.token} on ${payment.network}<br><code>${payment.tx_hash}</code>, log ${payment.log_index}</td><td>${time(payment.credited_at)}</td><td>${payment.amount}</td></tr>`,
  )}</table>`
  }
  <footer>
    <p>This page is for reading. What proves it is the same receipt as JSON, signed with ${signature.algorithm} by key <code>${signature.key_id}</code>, which is published at ${receipt.issuer}/.well-known/jwks.json. <code>coinrack receipt verify</code> checks it.</p>
    <p>Signature: <code>${signature.value}</code></p>
  </footer>
</body>
</html>`.text
}

const entry = (name: string, value: string | Html) => html`<dt>${name}</dt><dd>${value}</dd>`

const time = (iso: string) =>
  html`<time datetime="${iso}">${iso.replace(/^(.{10})T(.{5}).*$/, '$1 $2')} UTC</time>`
