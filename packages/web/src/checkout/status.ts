import { type Html, html } from '../html.ts'
import type { CheckoutView } from './view.ts'

const STEPS = ['Waiting', 'Seen', 'Credited']

/** Where the payment stands: one sentence, what it means, and the three steps of it. */
export function statusBanner(view: CheckoutView): Html {
  const { title, text } = wording(view)
  return html`<div class="status ${view.state}">
    <p class="status-title">${view.state === 'waiting' && html`<span class="pulse" aria-hidden="true"></span>`}${title}</p>
    <p class="status-text">${text}</p>
    ${view.state in stepOf && steps(view)}
  </div>`
}

const stepOf: Partial<Record<CheckoutView['state'], number>> = { waiting: 0, seen: 1, credited: 2 }

function steps({ state, progress }: CheckoutView): Html {
  const current = stepOf[state]!
  return html`<ol class="steps" aria-label="Progress of the payment">
    ${STEPS.map((name, step) => {
      const done = step < current || state === 'credited'
      return html`<li class="${done ? 'done' : step === current ? 'now' : 'next'}"${step === current && html` aria-current="step"`}>
        ${step === 1 && progress && html`<progress max="${progress.required}" value="${progress.confirmations}" aria-label="Confirmations"></progress>`}
        <span>${name}${step === 1 && progress && ` ${progress.confirmations} of ${progress.required}`}</span>
      </li>`
    })}
  </ol>`
}

function wording({ state, progress, invoice }: CheckoutView): { title: string; text: string } {
  switch (state) {
    case 'waiting':
      return isPartlyPaid(invoice)
        ? {
            title: `${invoice.received} of ${invoice.amount} USD received`,
            text: 'Thank you. It is on the balance already; send the rest shown below to complete this invoice.',
          }
        : {
            title: 'Waiting for your payment',
            text: 'This page notices the transfer by itself, usually within seconds.',
          }
    case 'seen':
      return {
        title: progress
          ? `Payment seen: ${progress.confirmations} of ${progress.required} confirmations`
          : 'Payment seen on the network',
        text: 'Nothing more to do: it is credited as soon as the network has confirmed it.',
      }
    case 'credited':
      return {
        title: 'Paid. Thank you!',
        text: {
          topup: `${invoice.received} USD was credited to the balance. You can close this page.`,
          order: `Your server ${invoice.service_id} is being made and starts by itself. You can close this page.`,
          renewal: 'The server is renewed. You can close this page.',
        }[invoice.kind],
      }
    case 'settled_to_balance':
      return {
        title: `${invoice.received} USD are on the balance`,
        text: `${invoice.kind === 'renewal' ? 'The server was not renewed' : 'The order could not be carried out'}: ${invoice.closed_reason}. Nothing was charged for it, and nothing more is to be paid here. The money was credited to the account, for another order or renewal.`,
      }
    case 'expired':
      return {
        title: 'This invoice has expired',
        text: 'Do not pay it any more. A transfer that is on its way is not lost: it is credited to the balance.',
      }
    case 'cancelled':
      return {
        title: 'This invoice was cancelled',
        text: 'Do not pay it any more. A transfer that is on its way is not lost: it is credited to the balance.',
      }
  }
}

const isPartlyPaid = ({ received }: CheckoutView['invoice']) => Number(received) > 0
