import type { Network } from './chain-settings.ts'

/** A promise of the chain about a block, by the names of the block tags of Ethereum's JSON-RPC. */
export type Finality = 'safe' | 'finalized'

/** When money is credited on a chain. The first tier whose limit is not passed decides. */
export interface ConfirmationPolicy {
  tiers: readonly ConfirmationTier[]
  /** No credit while the finalized block is further behind the head than this many blocks. */
  stallsAfter?: number
  /**
   * Micro-dollars that an account is credited at most, in all, on the word of a single endpoint while no other of the
   * chain answers.
   */
  oneNodeUpTo: bigint
}

export interface ConfirmationTier {
  /** Micro-dollars: the deposit and what the account was credited early already, together. No limit: undefined. */
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

/** Credits of the account, on all chains, that the chain could still take back; micro-dollars. */
export interface EarlyCredits {
  notSafe: bigint
  notFinalized: bigint
}

export interface Confirmation {
  enough: boolean
  /** Blocks since and with the deposit's own. */
  confirmations: number
  /** What is waited for. */
  needs: number | Finality
  /** `needs` as a number of confirmations, as the chain stands now: `enough` when `confirmations` reaches it. */
  required: number
  /** The chain does not finalize: somebody should look. */
  stalled: boolean
}

/**
 * The defaults: small amounts after a few blocks, larger ones when the chain promises more.
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
 * A limit counts the account's earlier credits that are not settled one step further than the tier asks: many small
 * deposits get no more trust than one large one.
 * @param amount micro-dollars
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
