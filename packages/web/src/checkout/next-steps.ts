import { basePath, type OperationName, operations } from '@coinrack/contract/index.ts'
import { type Html, html } from '../html.ts'
import type { CheckoutView } from './view.ts'

export interface NextStepsOptions {
  /** The path of the page. */
  path: string
  /** The address of the service. */
  publicUrl: string
}

/** The steps once an invoice is paid, or its money is on the balance, with links to where they are described. */
export function nextSteps({ state, invoice }: CheckoutView, { path, publicUrl }: NextStepsOptions): Html {
  if (state === 'settled_to_balance')
    return card([
      describedAs('listPlans', 'See what can be ordered now'),
      describedAs('orderVps', 'Order it'),
    ])
  if (state !== 'credited') return html``
  const receipt = html`<li><a href="${path}/receipt">Receipt of this payment</a></li>`
  switch (invoice.kind) {
    case 'topup':
      return card([
        describedAs('listPlans', 'See the plans'),
        describedAs('orderVps', 'Order a server from the balance'),
        receipt,
      ])
    case 'order':
      return card([
        describedAs('getVpsStatus', 'Wait for the server, and log in'),
        requestOf('getVpsStatus', invoice.service_id, `${publicUrl}${basePath}`, '?wait=ssh_ready'),
        receipt,
      ])
    case 'renewal':
      return card([
        describedAs('getVpsStatus', 'See until when the server is paid'),
        requestOf('getVpsStatus', invoice.service_id, `${publicUrl}${basePath}`),
        receipt,
      ])
  }
}

const card = (steps: Html[]) =>
  html`<section class="card" aria-labelledby="next-title"><h2 id="next-title">What comes next</h2><ul class="next-steps">${steps}</ul></section>`

/** A link to the description of an operation. */
const describedAs = (operation: OperationName, label: string) =>
  html`<li><a href="/docs#${operation}">${label}</a></li>`

/** The request that a program with a token of the account sends. */
function requestOf(operation: OperationName, id: string | null, base: string, query = ''): Html {
  if (id === null) return html``
  const { method, path } = operations[operation]
  const url = `${base}${path.replace('{id}', id)}${query}`
  return html`<li><code translate="no">${method} ${url}</code></li>`
}
