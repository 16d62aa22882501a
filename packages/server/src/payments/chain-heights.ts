import type { Chain } from '../chain/chain-port.ts'
import type { ChainHeights } from '../chain/confirmation-policy.ts'

/** The newest blocks of a chain, as its nodes say now. */
export async function chainHeights({ port }: Chain): Promise<ChainHeights> {
  const [head, safe, finalized] = await Promise.all([
    port.block('latest'),
    port.block('safe'),
    port.block('finalized'),
  ])
  if (!head) throw new Error(`Chain ${port.chainId} has no head`)
  return { head: head.number, safe: safe?.number ?? 0, finalized: finalized?.number ?? 0 }
}
