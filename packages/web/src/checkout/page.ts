import { type Html, html } from '../html.ts'
import { paymentPanels } from './payment-panel.ts'
import { paymentsList } from './payments-list.ts'
import { questions } from './questions.ts'
import { statusBanner } from './status.ts'
import type { CheckoutView, Choice } from './view.ts'

export interface PageOptions {
  /** The path of this page; its JSON and its events lie beside and below it. */
  path: string
  chosen: Choice | undefined
  /** The local chains with test money: says so, and offers to pay from the faucet. */
  demo: boolean
  assets: { style: string; script: string }
}

/** Seconds after which a browser without scripts looks again. */
const LOOK_AGAIN_S = 15

/**
 * The checkout page of one invoice, whole. Parts with `data-live` are those that change with the payment: the script
 * replaces them by their newer selves when the server tells that something happened.
 */
export function checkoutPage(view: CheckoutView, options: PageOptions): string {
  const { path, chosen, demo, assets } = options
  const { invoice } = view
  const isOpen = view.state === 'waiting' || view.state === 'seen'
  const what = {
    topup: 'Top-up of your balance',
    order: 'Payment of an order',
    renewal: 'Renewal of a server',
  }[invoice.kind]
  return document(
    `${invoice.amount} USD`,
    assets,
    html`<main data-events="${path}/events">
      <header class="card summary">
        <p class="what">${what}</p>
        <h1><span class="total">${invoice.amount}</span> USD</h1>
        <p class="hint">Invoice <code translate="no">${invoice.id}</code></p>
        <p class="hint" data-live="expiry">${isOpen && html`Pay before ${time(invoice.expires_at)}`}</p>
      </header>
      ${demo && html`<p class="demo-note"><strong>Demo.</strong> Local test networks with test money: please send no real tokens.</p>`}
      <section class="card" aria-label="Status"><div data-live="status" role="status" aria-live="polite">${statusBanner(view)}</div>
      ${isOpen && html`<noscript><p class="hint">This page looks for your payment every ${LOOK_AGAIN_S} seconds. <a href="${path}">Look now</a></p></noscript>`}</section>
      <div data-live="payments">${paymentsList(view)}</div>
      <div data-live="pay">${isOpen && paymentPanels(view, { chosen, demoPayUrl: demo ? `${path}/demo-pay` : undefined })}</div>
      <div data-live="questions">${isOpen && questions(invoice)}</div>
      <footer>
        <p>This address is private: whoever has it sees this invoice, and nothing else of the account.</p>
        <p><a href="${path}.json">The same as JSON</a></p>
      </footer>
    </main>
    <p id="said" class="visually-hidden" role="status" aria-live="polite"></p>`,
    isOpen && html`<noscript><meta http-equiv="refresh" content="${LOOK_AGAIN_S}"></noscript>`,
  )
}

/** For a path that is no invoice's. */
export const unknownCheckoutPage = (assets: PageOptions['assets']): string =>
  document(
    'No such invoice',
    { style: assets.style },
    html`<main><section class="card summary">
      <h1>There is no such invoice</h1>
      <p>Please check that the whole address was copied. The account's invoices, with their addresses, are listed by <code>GET /invoices</code> or the tool <code>list_invoices</code>.</p>
    </section></main>`,
  )

function document(
  title: string,
  assets: { style: string; script?: string },
  body: Html,
  head: Html | false = false,
): string {
  return html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>${title} · Coinrack checkout</title>
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <meta name="robots" content="noindex">
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="${assets.style}">
  ${assets.script !== undefined && html`<script type="module" src="${assets.script}"></script>`}
  ${head}
</head>
<body>
  <div class="brand"><span class="mark" aria-hidden="true"></span>Coinrack</div>
  ${body}
</body>
</html>`.text
}

/** Readable without a script, which writes it in the reader's own time zone. */
const time = (iso: string) =>
  html`<time datetime="${iso}">${iso.replace(/^(.{10})T(.{5}).*$/, '$1 $2')} UTC</time>`
