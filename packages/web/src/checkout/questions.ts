import { type Html, html } from '../html.ts'
import type { WireInvoice } from './view.ts'

/** Tells the payer what happens when a payment is not as it was asked for. */
export function questions({ kind }: WireInvoice): Html {
  const completes = {
    topup: 'The invoice counts as paid once the whole amount is there.',
    order: 'The order goes on once the whole amount is there.',
    renewal: 'The server is renewed once the whole amount is there.',
  }[kind]
  return html`<section class="card questions" aria-labelledby="questions-title">
    <h2 id="questions-title">Good to know</h2>
    ${[
      question(
        'I sent less, or more',
        `What really arrives is credited to the balance, to the last cent. ${completes} Send the rest in as many transfers as you like.`,
      ),
      question(
        'I paid late',
        'The address stays yours. A transfer that arrives after this invoice ended is credited to the balance all the same.',
      ),
      question(
        'I used another network or token',
        'The address is the same on every network named above, and each token named above is credited there, whichever you chose. Any other token, and coins on other networks, cannot be credited: please do not send those.',
      ),
      question(
        'My wallet or exchange takes a fee',
        'Fees come out of what you send. Look that the amount above is what arrives here.',
      ),
    ]}
  </section>`
}

const question = (title: string, answer: string) =>
  html`<details><summary>${title}</summary><p>${answer}</p></details>`
