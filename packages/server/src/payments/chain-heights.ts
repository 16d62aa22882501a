import type { BlockRef, Chain } from '../chain/chain-port.ts'
import type { ChainHeights } from '../chain/confirmation-policy.ts'

/**
 * How far the chain below its newest block can be relied on, as its endpoints jointly report. A height that fewer than
 * two of them promise now stays at its previous value.
 */
export async function chainHeights(
  { port }: Chain,
  head: BlockRef,
  before: { safe: number; finalized: number } | undefined,
): Promise<ChainHeights> {
  const [safe, finalized] = await Promise.all([port.promised('safe'), port.promised('finalized')])
  return {
    head: head.number,
    safe: safe ?? before?.safe ?? 0,
    finalized: finalized ?? before?.finalized ?? 0,
  }
}
