import { type Posting, treasuryAccount } from '@coinrack/money/index.ts'

/** The postings that credit a deposit: the customer's debt is paid first. Amounts in micro-USD. */
export function creditPostings(amount: bigint, owed: bigint, chainId: number, token: string): Posting[] {
  const from = treasuryAccount(chainId, token)
  const paysDebt = amount < owed ? amount : owed
  return withoutNothing([
    { from, to: 'customer.owed', amount: paysDebt },
    { from, to: 'customer.available', amount: amount - paysDebt },
  ])
}

/** The postings that reverse a deposit: what the balance no longer covers becomes debt. Amounts in micro-USD. */
export function reversalPostings(
  amount: bigint,
  available: bigint,
  chainId: number,
  token: string,
): Posting[] {
  const to = treasuryAccount(chainId, token)
  const taken = amount < available ? amount : available
  return withoutNothing([
    { from: 'customer.available', to, amount: taken },
    { from: 'customer.owed', to, amount: amount - taken },
  ])
}

const withoutNothing = (postings: Posting[]) => postings.filter(({ amount }) => amount > 0n)
