import type { Hash } from 'viem'
import type { Chain, TransferLog, TransferReceipt } from '../../chain/chain-port.ts'

/** The transfer of a payment as the chain shows it. */
export interface WantedTransfer {
  token: string
  from: string
  to: string
  /** The amount in the token's smallest unit. */
  value: bigint
}

/** The transfer of a payment in a successful transaction; undefined when that lacks it, failed, or is in no block. */
export const paidBy = async (
  { port }: Chain,
  txHash: Hash,
  wanted: WantedTransfer,
): Promise<TransferLog | undefined> => transferIn(await port.receipt(txHash), wanted)

/** The transfer of a payment among those of a transaction. */
export const transferIn = (
  receipt: TransferReceipt | undefined,
  wanted: WantedTransfer,
): TransferLog | undefined =>
  receipt?.succeeded
    ? receipt.transfers.find(
        ({ token, from, to, value }) =>
          token === wanted.token.toLowerCase() &&
          from === wanted.from.toLowerCase() &&
          to === wanted.to.toLowerCase() &&
          value === wanted.value,
      )
    : undefined
