import type { Hash } from 'viem'
import type { Chain, TransferLog } from '../../chain/chain-port.ts'

/** The transfer of a payment in a transaction that succeeded; undefined when it has none, or is in no block. */
export async function paidBy(
  { port }: Chain,
  txHash: Hash,
  wanted: { token: string; from: string; to: string; value: bigint },
): Promise<TransferLog | undefined> {
  const receipt = await port.receipt(txHash)
  if (!receipt?.succeeded) return undefined
  return receipt.transfers.find(
    ({ token, from, to, value }) =>
      token === wanted.token.toLowerCase() &&
      from === wanted.from.toLowerCase() &&
      to === wanted.to.toLowerCase() &&
      value === wanted.value,
  )
}
