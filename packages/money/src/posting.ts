import type { LedgerAccount } from './chart-of-accounts.ts'

/** Moves an amount from one ledger account to another, so that every transaction sums to zero by construction. */
export interface Posting {
  from: LedgerAccount
  to: LedgerAccount
  /** micro-USD, above zero */
  amount: bigint
}

/** One line of the ledger: what a transaction changed on one account, in micro-USD; below zero is taken. */
export interface Entry {
  account: LedgerAccount
  amount: bigint
}

/**
 * The entries of a transaction, in the order of its postings: two for each.
 * @throws RangeError for an amount that is not above zero, or a posting onto itself
 */
export function entriesOf(postings: readonly Posting[]): Entry[] {
  return postings.flatMap(({ from, to, amount }) => {
    if (amount <= 0n) throw new RangeError(`A posting moves more than zero, not ${amount} micro-USD`)
    if (from === to) throw new RangeError(`A posting from ${from} to itself moves nothing`)
    return [
      { account: from, amount: -amount },
      { account: to, amount },
    ]
  })
}

/** The change that a transaction makes to one account, in micro-USD. */
export const changeOf = (account: LedgerAccount, entries: readonly Entry[]) =>
  entries.reduce((sum, entry) => (entry.account === account ? sum + entry.amount : sum), 0n)
