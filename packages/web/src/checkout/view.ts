import type { Invoice } from '@coinrack/contract/invoices.ts'
import type { z } from 'zod'

export type WireInvoice = z.input<typeof Invoice>
export type PaymentOption = WireInvoice['payment_options'][number]
export type Payment = WireInvoice['payments'][number]

/** The data that the page of one invoice shows, as it stands on the wire. */
export interface CheckoutView {
  state: 'waiting' | 'seen' | 'credited' | 'settled_to_balance' | 'expired' | 'cancelled'
  /** The progress of the payment that has furthest to go. */
  progress: { confirmations: number; required: number } | null
  invoice: WireInvoice
}

/** A way to pay that the page offers. */
export interface Choice {
  network: PaymentOption['network']
  token: PaymentOption['token']
}

/** Where people look up what is on a network, such as `https://etherscan.io`; undefined for a local one. */
export type ExplorerOf = (network: Choice['network']) => string | undefined

export const networkNames: Record<Choice['network'], string> = {
  base: 'Base',
  ethereum: 'Ethereum',
  polygon: 'Polygon',
}
