import type { TransferLog } from './chain-port.ts'

/**
 * Tells equal transfers of one transaction apart: by how many before them have the same token, recipient and value.
 * @param transfers all of each transaction, or all of it to one address, in the order of their logs
 */
export function numberTransfers(transfers: Omit<TransferLog, 'ordinal'>[]): TransferLog[] {
  // Nearly all transactions have one transfer, and need no key to be told apart.
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

/** Halves of a range can show a transaction in two blocks, one of which the chain dropped between the two. */
const keyOf = ({ blockHash, txHash, token, to, value }: Omit<TransferLog, 'ordinal'>) =>
  `${blockHash} ${txHash} ${token} ${to} ${value}`
