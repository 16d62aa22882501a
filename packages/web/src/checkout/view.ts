import type { Invoice } from '@coinrack/contract/invoices.ts'
import type { z } from 'zod'

export type WireInvoice = z.input<typeof Invoice>
export type PaymentOption = WireInvoice['payment_options'][number]
export type Payment = WireInvoice['payments'][number]

/** What the page of one invoice shows, as it stands on the wire. */
export interface CheckoutView {
  state: 'waiting' | 'seen' | 'credited' | 'settled_to_balance' | 'expired' | 'cancelled'
  /** Of the payment with furthest to go. */
  progress: { confirmations: number; required: number } | null
  invoice: WireInvoice
}

/** A way to pay that the page offers. */
export interface Choice {
  network: PaymentOption['network']
  token: PaymentOption['token']
}

export const networkNames: Record<Choice['network'], string> = {
  base: 'Base',
  ethereum: 'Ethereum',
  polygon: 'Polygon',
}
