/**
 * The accounts of the ledger. Balances are credit-positive: what the house owes a customer is above
 * zero, what the house has (the treasuries) and what a customer owes it is below.
 */

/** Accounts of each customer: what can be spent, what is reserved by holds, what a reversed payment left open. */
export const customerAccounts = ['customer.available', 'customer.held', 'customer.owed'] as const
export type CustomerAccount = (typeof customerAccounts)[number]

/** Accounts of the house. A treasury is one token on one chain. */
export type HouseAccount =
  | `treasury.${number}.${string}`
  | 'revenue.vps'
  | 'revenue.sandbox'
  | 'house.adjustments'

export type LedgerAccount = CustomerAccount | HouseAccount

export const treasuryAccount = (chainId: number, token: string): HouseAccount =>
  `treasury.${chainId}.${token}`
