import type { Network } from './chain-settings.ts'

/** A promise of the chain about a block, by the names of the block tags of Ethereum's JSON-RPC. */
export type Finality = 'safe' | 'finalized'

/** When deposits on a chain are credited. The first tier whose limit is not exceeded applies. */
export interface ConfirmationPolicy {
  tiers: readonly ConfirmationTier[]
  /** Nothing is credited while the finalized block is more than this many blocks behind the head. */
  stallsAfter?: number
  /**
   * The most micro-USD, in total, that an account is credited on the word of a single endpoint while no other endpoint of
   * the chain answers.
   */
  oneNodeUpTo: bigint
}

export interface ConfirmationTier {
  /** The limit in micro-USD for the deposit and the account's earlier early credits together; undefined for no limit. */
  upTo?: bigint
  /** A number of blocks, the deposit's own included, or the chain's own promise. */
  needs: number | Finality
}

/** The newest block numbers of a chain. */
export interface ChainHeights {
  head: number
  safe: number
  finalized: number
}

/** The account's credits, in micro-USD and on all chains, that a chain could still take back. */
export interface EarlyCredits {
  notSafe: bigint
  notFinalized: bigint
}

export interface Confirmation {
  enough: boolean
  /** The number of blocks from the deposit's own on, that one included. */
  confirmations: number
  /** The confirmations or the promise that the deposit waits for. */
  needs: number | Finality
  /** `needs` as a number of confirmations at the current heights: `enough` once `confirmations` reaches it. */
  required: number
  /** Whether the chain has stopped finalizing, which the operator should look into. */
  stalled: boolean
}

/**
 * The default policies: small amounts after a few blocks, larger ones when the chain promises more.
 * Base finalizes with Ethereum, so `safe` (posted to Ethereum) is its strictest wait; Polygon finalizes in seconds.
 */
export const confirmationPolicies: Record<Network, ConfirmationPolicy> = {
  base: { tiers: [{ upTo: 100_000_000n, needs: 5 }, { needs: 'safe' }], oneNodeUpTo: 100_000_000n },
  ethereum: {
    tiers: [{ upTo: 50_000_000n, needs: 3 }, { upTo: 1_000_000_000n, needs: 'safe' }, { needs: 'finalized' }],
    oneNodeUpTo: 50_000_000n,
  },
  polygon: { tiers: [{ needs: 'finalized' }], stallsAfter: 64, oneNodeUpTo: 100_000_000n },
}

/**
 * Whether a deposit may be credited now.
 *
 * A limit also counts the account's earlier credits that are not yet settled one step beyond the tier's requirement, so
 * that many small deposits get no more trust than one large one.
 * @param amount micro-USD
 * @param block the number of the deposit's block
 */
export function decideConfirmation(
  policy: ConfirmationPolicy,
  { amount, block }: { amount: bigint; block: number },
  heights: ChainHeights,
  early: EarlyCredits,
): Confirmation {
  const tier = policy.tiers.find(({ upTo, needs }) => {
    const exposed = typeof needs === 'number' ? early.notSafe : early.notFinalized
    return upTo === undefined || amount + exposed <= upTo
  })
  if (!tier) throw new Error(`The confirmation policy has no tier for ${amount} micro-dollars`)

  const { needs } = tier
  const confirmations = Math.max(0, heights.head - block + 1)
  const required = typeof needs === 'number' ? needs : Math.max(1, heights.head - heights[needs] + 1)
  const stalled = policy.stallsAfter !== undefined && heights.head - heights.finalized > policy.stallsAfter
  return { enough: !stalled && confirmations >= required, confirmations, needs, required, stalled }
}
