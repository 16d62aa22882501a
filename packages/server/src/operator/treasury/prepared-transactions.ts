import { writeFile } from 'node:fs/promises'
import type { Address, Hex } from 'viem'

/** A transaction for the operator's own wallet: the service neither signs nor sends it. */
export interface PreparedTransaction {
  chainId: number
  to: Address
  data: Hex
  /** The effect of the transaction, in a few words. */
  does: string
}

/** As programs read it: amounts and numbers as text. */
export const transactionJson = ({ chainId, to, data, does }: PreparedTransaction) => ({
  chain_id: chainId,
  to,
  value: '0',
  data,
  does,
})

/**
 * Writes transactions of one chain as a batch of Safe's Transaction Builder, which a multisig's owners load, look at and
 * sign (https://help.safe.global/en/articles/40841-transaction-builder).
 */
export async function writeSafeBatch(
  file: string,
  transactions: PreparedTransaction[],
  name: string,
  at: Date,
): Promise<void> {
  const batch = {
    version: '1.0',
    chainId: String(transactions[0]!.chainId),
    createdAt: at.getTime(),
    meta: { name, description: transactions.map(({ does }) => does).join('; ') },
    transactions: transactions.map(({ to, data }) => ({ to, value: '0', data })),
  }
  await writeFile(file, `${JSON.stringify(batch, null, 2)}\n`)
}
