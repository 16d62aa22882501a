import type { BlockRef, Chain } from '../chain/chain-port.ts'
import type { ChainHeights } from '../chain/confirmation-policy.ts'

/**
 * How far the chain below its newest block can be relied on, as its endpoints say together. What fewer than two of them
 * promise now is left at what was promised before.
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
