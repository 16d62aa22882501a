import type { TransferLog } from './chain-port.ts'

/**
 * Tells equal transfers of one transaction apart: by how many before them have the same token, recipient and value.
 * @param transfers all of each transaction, or all of it to one address, in the order of their logs
 */
export function numberTransfers(transfers: Omit<TransferLog, 'ordinal'>[]): TransferLog[] {
  const counts = new Map<string, number>()
  return transfers.map((transfer) => {
    const { blockHash, txHash, token, to, value } = transfer
    // Halves of a range can show a transaction in two blocks, one of which the chain dropped between the two.
    const key = `${blockHash} ${txHash} ${token} ${to} ${value}`
    const ordinal = counts.get(key) ?? 0
    counts.set(key, ordinal + 1)
    return { ...transfer, ordinal }
  })
}
