import type { TransferLog } from '../../chain/chain-port.ts'
import type { Books } from './read-books.ts'

/** One token on one chain; micro-USD. */
export interface TokenSums {
  token: string
  /** By the ledger, the sum that was paid in, less what was paid out. */
  ledger: bigint
  /** Credited to customers, by their deposits. */
  credited: bigint
  /** Seen, and not credited yet. */
  waiting: bigint
  /** The sum at deposit addresses now. */
  at_addresses: bigint
  /** The sum that deposit addresses have paid to the treasury. */
  flushed: bigint
  /** The sum in the treasury now, whatever else came or went there. */
  treasury: bigint
  /** The sum that there is, less the sum that is known: at the addresses, and in the ledger. */
  difference: bigint
}

/** One thing that does not agree; micro-USD. */
export interface Difference {
  token: string
  /** Lower-case; absent where an account's books differ. */
  address?: string
  account_id: string | null
  /** Above zero where there is more than is known. */
  amount: bigint
  explanation: string
}

/** The facts that the chain shows beside the books. */
export interface Seen {
  /** The tokens that are accepted or were, by address in lower case. */
  tokens: ReadonlyMap<string, string>
  /** By address and token address. */
  balances: ReadonlyMap<string, bigint>
  /** The balances of the treasury, by token address. */
  treasury: ReadonlyMap<string, bigint>
  /** To our addresses, in blocks that the service has not looked through yet. */
  arriving: TransferLog[]
  /** From our addresses to the treasury, in blocks that are not final. */
  leaving: TransferLog[]
}

export const holdingKey = (address: string, token: string) => `${address} ${token}`

/**
 * Compares what the chain shows with the books, address by address and account by account: what was paid to an address
 * is still there, or went to the treasury; and what the ledger has of an account is what its deposits were credited with.
 */
export function compareBooks(books: Books, seen: Seen): { sums: TokenSums[]; differences: Difference[] } {
  const sums = new Map<string, TokenSums>()
  const sumOf = (token: string) => {
    const nothing = { ledger: 0n, credited: 0n, waiting: 0n, at_addresses: 0n, flushed: 0n, treasury: 0n }
    const known = sums.get(token) ?? { token, ...nothing, difference: 0n }
    sums.set(token, known)
    return known
  }
  const expected = new Map<string, bigint>()
  const expect = (address: string, token: string, amount: bigint) => {
    const key = holdingKey(address, token)
    expected.set(key, (expected.get(key) ?? 0n) + amount)
  }

  for (const { address, token, token_address, credited, waiting } of books.received) {
    sumOf(token).credited += credited
    sumOf(token).waiting += waiting
    expect(address, token_address, credited + waiting)
  }
  for (const { to, token, value } of seen.arriving) {
    sumOf(seen.tokens.get(token)!).waiting += value
    expect(to, token, value)
  }
  const leaving = seen.leaving.map(({ from, token, value }) => ({
    address: from as string,
    token_address: token as string,
    amount: value,
  }))
  for (const { address, token_address, amount } of [...books.flushed, ...leaving]) {
    const token = seen.tokens.get(token_address)
    if (token === undefined) continue
    sumOf(token).flushed += amount
    expect(address, token_address, -amount)
  }

  const differences: Difference[] = []
  for (const [token_address, token] of seen.tokens) {
    sumOf(token).treasury += seen.treasury.get(token_address) ?? 0n
    for (const { address, account_id } of books.addresses) {
      const key = holdingKey(address, token_address)
      const balance = seen.balances.get(key) ?? 0n
      const amount = balance - (expected.get(key) ?? 0n)
      sumOf(token).at_addresses += balance
      if (amount === 0n) continue
      sumOf(token).difference += amount
      const explanation =
        amount > 0n
          ? 'The address has more than the service has seen arrive: look again with `chain rescan`, from a block before it came'
          : 'The address has less than the service has seen arrive'
      differences.push({ token, address, account_id, amount, explanation })
    }
  }
  for (const { account_id, token, ledger, deposits } of books.held) {
    sumOf(token).ledger += ledger
    if (ledger === deposits) continue
    const amount = deposits - ledger
    sumOf(token).difference += amount
    const explanation =
      'The deposits of the account are credited with something else than the ledger has of them'
    differences.push({ token, account_id, amount, explanation })
  }
  return { sums: [...sums.values()], differences }
}
