import { setTimeout as sleep } from 'node:timers/promises'
import { type Hash, type PublicClient, type TransactionReceipt, TransactionReceiptNotFoundError } from 'viem'

const POLLING_MS = 20
const LIMIT_MS = 60_000

/**
 * The receipt of a transaction on a chain that mines for transactions alone. It is asked for until it is there: no later
 * block would announce it, if the one that it is in was seen a moment before it could be asked for.
 * @throws Error when it is not in a block within a minute
 */
export async function minedReceipt(
  client: Pick<PublicClient, 'getTransactionReceipt'>,
  hash: Hash,
): Promise<TransactionReceipt> {
  for (let waited = 0; waited < LIMIT_MS; waited += POLLING_MS) {
    try {
      return await client.getTransactionReceipt({ hash })
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError)) throw error
    }
    await sleep(POLLING_MS)
  }
  throw new Error(`Transaction ${hash} is in no block after ${LIMIT_MS / 1000} seconds`)
}
