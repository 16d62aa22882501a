import { Html, html } from '../html.ts'
import { brand, wholePage } from '../shell/whole-page.ts'
import { type LivePart, liveParts } from './live-parts.ts'
import { type CodeKind, paymentSection } from './payment-panel.ts'
import type { CheckoutView, Choice, ExplorerOf } from './view.ts'

export interface PageOptions {
  /** The path of this page; its JSON, its events and its parts lie beside and below it. */
  path: string
  /** The address of the service. */
  publicUrl: string
  chosen: Choice | undefined
  code: CodeKind
  explorerOf: ExplorerOf
  /** Whether a wallet can pay so by its signature alone. */
  isGasless: (choice: Choice) => boolean
  /** The local chains with test money: says so, and offers to pay from the faucet. */
  demo: boolean
  assets: { style: string; script: string; wallet: string }
}

/** Seconds after which a browser without scripts looks again. */
const LOOK_AGAIN_S = 15

/**
 * The checkout page of one invoice, whole. Parts with `data-live` are those that change with the payment: the script
 * replaces each by what the server sends in its stream of changes, and fetches how to pay when the amount changes.
 */
export function checkoutPage(view: CheckoutView, options: PageOptions): string {
  const { path, demo, assets } = options
  const { invoice } = view
  const isOpen = view.state === 'waiting' || view.state === 'seen'
  const { title, due, parts } = liveParts(view, options)
  const live = (name: LivePart) => ({ name, html: parts[name] })
  const what = {
    topup: 'Top-up of your balance',
    order: 'Payment of an order',
    renewal: 'Renewal of a server',
  }[invoice.kind]
  const head = isOpen
    ? html`<noscript><meta http-equiv="refresh" content="${LOOK_AGAIN_S}"></noscript>`
    : html``
  const body = html`${brand(demo)}
  <main data-path="${path}" data-due="${due}">
    <div class="side">
      <header class="card summary">
        <p class="what">${what}</p>
        <h1><span class="total">${invoice.amount}</span> USD</h1>
        <p class="hint">Invoice <code translate="no">${invoice.id}</code></p>
        ${livePart(live('expiry'), 'hint')}
      </header>
      <section class="card" aria-label="Status">${livePart(live('status'), '', html` role="status" aria-live="polite"`)}
      ${isOpen && html`<noscript><p class="hint">This page looks for your payment every ${LOOK_AGAIN_S} seconds. <a href="${path}">Look now</a></p></noscript>`}</section>
      ${livePart(live('next'))}
      ${livePart(live('payments'))}
    </div>
    <div data-pay>${isOpen && paymentPart(view, options)}</div>
    <div class="more">
      ${livePart(live('questions'))}
      <footer>
        <p>This address is private: anyone who has it sees this invoice, and nothing else of the account.</p>
        <p><a href="${path}.json">The same as JSON</a></p>
      </footer>
    </div>
  </main>
  <p id="said" class="visually-hidden" role="status" aria-live="polite"></p>`
  return wholePage(title, { style: assets.style, scripts: [assets.script, assets.wallet], head }, body)
}

/** The section in which a way to pay is chosen and shown; nothing when nothing is to be paid. */
export const paymentPart = (view: CheckoutView, { demo, ...options }: Omit<PageOptions, 'assets'>): Html =>
  paymentSection(view, { ...options, demoPayUrl: demo ? `${options.path}/demo-pay` : undefined })

/** For a path that is no invoice's. */
export const unknownCheckoutPage = ({ style }: Pick<PageOptions['assets'], 'style'>): string =>
  wholePage(
    'No such invoice · Coinrack checkout',
    { style, scripts: [] },
    html`${brand(false)}<main><section class="card summary">
      <h1>There is no such invoice</h1>
      <p>Please check that the whole address was copied. The account's invoices, with their addresses, are listed by <code>GET /invoices</code> or the tool <code>list_invoices</code>.</p>
    </section></main>`,
  )

function livePart(
  part: { name: LivePart; html: string },
  className = '',
  attributes: Html | false = false,
): Html {
  return html`<div data-live="${part.name}"${className !== '' && html` class="${className}"`}${attributes}>${new Html(part.html)}</div>`
}
