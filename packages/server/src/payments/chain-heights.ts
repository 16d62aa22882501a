import type { BlockRef, Chain } from '../chain/chain-port.ts'
import type { ChainHeights } from '../chain/confirmation-policy.ts'

/** The newest block of a chain, as its nodes say now. */
export async function chainHead({ port }: Chain): Promise<BlockRef> {
  const head = await port.block('latest')
  if (!head) throw new Error(`Chain ${port.chainId} has no head`)
  return head
}

/** How far the chain below its newest block can be relied on, as its nodes say now. */
export async function chainHeights({ port }: Chain, head: BlockRef): Promise<ChainHeights> {
  const [safe, finalized] = await Promise.all([port.block('safe'), port.block('finalized')])
  return { head: head.number, safe: safe?.number ?? 0, finalized: finalized?.number ?? 0 }
}
