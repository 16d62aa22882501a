import type { TokenSymbol } from '../../chain/chain-settings.ts'

/** One balance of one deposit address. */
export interface Waiting {
  address: string
  counter: bigint
  /** The chain's own coin where it is absent; it came by mistake. */
  token?: { symbol: TokenSymbol; address: string }
  /** In the smallest unit: micro-USD of a token, wei of the coin. */
  amount: bigint
}

/**
 * Which balances are worth a transaction, the largest first, in groups of one transaction each.
 * @param above micro-USD: what is less is left where it is, and goes on counting; coin is taken whatever it is
 */
export function planFlush(waiting: Waiting[], above: bigint, mostAtOnce: number): Waiting[][] {
  const wanted = waiting
    .filter(({ token, amount }) => amount > 0n && (!token || amount >= above))
    .sort((one, other) => Number(other.amount > one.amount) - Number(other.amount < one.amount))
  return Array.from({ length: Math.ceil(wanted.length / mostAtOnce) }, (_, index) =>
    wanted.slice(index * mostAtOnce, (index + 1) * mostAtOnce),
  )
}
