import type { HouseAccount } from './chart-of-accounts.ts'
import type { Posting } from './posting.ts'

/**
 * Two-phase spending, as in TigerBeetle's pending transfers: a pending hold reserves an amount, and is
 * then either posted (captured, in whole or in part) or voided (released). It ends once.
 */
export type HoldState = 'pending' | 'posted' | 'voided'

/** Reserves an amount of the spendable balance. */
export const reserve = (amount: bigint): Posting[] => [
  { from: 'customer.available', to: 'customer.held', amount },
]

/** Gives a reserved amount back. */
export const release = (amount: bigint): Posting[] => [
  { from: 'customer.held', to: 'customer.available', amount },
]

/** Pays a reserved amount out of a treasury. */
export const payOut = (amount: bigint, treasury: HouseAccount): Posting[] => [
  { from: 'customer.held', to: treasury, amount },
]

/** Turns a reserved amount into revenue. */
export const capture = (amount: bigint): Posting[] => [{ from: 'customer.held', to: 'revenue.vps', amount }]
