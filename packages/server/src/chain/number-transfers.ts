import type { TransferLog } from './chain-port.ts'

/**
 * Distinguishes equal transfers of one transaction by how many before them have the same token, recipient and value.
 * @param transfers all transfers of each transaction, or all of them to one address, in the order of their logs
 */
export function numberTransfers(transfers: Omit<TransferLog, 'ordinal'>[]): TransferLog[] {
  // Nearly all transactions have one transfer, and need no key to distinguish it.
  const firsts = new Map<string, Omit<TransferLog, 'ordinal'>>()
  const counts = new Map<string, number>()
  return transfers.map((transfer) => {
    const first = firsts.get(transfer.txHash)
    if (!first) {
      firsts.set(transfer.txHash, transfer)
      return { ...transfer, ordinal: 0 }
    }
    const key = keyOf(transfer)
    const ordinal = counts.get(key) ?? (keyOf(first) === key ? 1 : 0)
    counts.set(key, ordinal + 1)
    return { ...transfer, ordinal }
  })
}

/** Includes the block: two parts of a range can show a transaction in two blocks, if a reorg came between their reads. */
const keyOf = ({ blockHash, txHash, token, to, value }: Omit<TransferLog, 'ordinal'>) =>
  `${blockHash} ${txHash} ${token} ${to} ${value}`
