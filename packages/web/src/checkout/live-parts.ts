import { html } from '../html.ts'
import { nextSteps } from './next-steps.ts'
import { paymentsList } from './payments-list.ts'
import { questions } from './questions.ts'
import { statusBanner } from './status.ts'
import type { CheckoutView, ExplorerOf } from './view.ts'

export const livePartNames = ['expiry', 'status', 'next', 'payments', 'questions'] as const
export type LivePart = (typeof livePartNames)[number]

export interface LivePartsOptions {
  path: string
  publicUrl: string
  explorerOf: ExplorerOf
}

/** The parts of the page that change with the payment, as markup, and what is still to be paid. */
export interface LiveParts {
  title: string
  /** In the words of the panel; empty when nothing is to be paid. The panel is fetched again when it changes. */
  due: string
  parts: Partial<Record<LivePart, string>>
}

/** The parts as they are now, all of them. */
export function liveParts(
  view: CheckoutView,
  options: LivePartsOptions,
): LiveParts & { parts: Record<LivePart, string> } {
  const { invoice } = view
  const isOpen = view.state === 'waiting' || view.state === 'seen'
  const parts = {
    expiry: isOpen ? html`Pay before ${time(invoice.expires_at)}` : html``,
    status: statusBanner(view),
    next: nextSteps(view, options),
    payments: paymentsList(view, options.explorerOf),
    questions: isOpen ? questions(invoice) : html``,
  }
  return {
    title: `${invoice.amount} USD · Coinrack checkout`,
    due: invoice.payment_options[0]?.amount ?? '',
    parts: Object.fromEntries(livePartNames.map((name) => [name, parts[name].text])) as Record<
      LivePart,
      string
    >,
  }
}

/** The parts that have changed, so that a change is told in few bytes. */
export const changedParts = (now: LiveParts, before: LiveParts | undefined): LiveParts => ({
  ...now,
  parts: Object.fromEntries(
    Object.entries(now.parts).filter(([name, text]) => before?.parts[name as LivePart] !== text),
  ),
})

/** Readable without a script, which writes it in the reader's own time zone. */
const time = (iso: string) =>
  html`<time datetime="${iso}">${iso.replace(/^(.{10})T(.{5}).*$/, '$1 $2')} UTC</time>`
