import type { Hash } from 'viem'
import type { Chain } from '../../chain/chain-port.ts'
import type { Authorization } from '../../chain/gas-wallet.ts'
import { transferIn, type WantedTransfer } from './paid-by.ts'

/**
 * The outcome of an authorization, regardless of its sender.
 * - `unused`: no node knows of a transaction that uses it
 * - `spent`: it was used for another transfer or cancelled, and can no longer pay
 * - `unknown`: it was used, or is about to be, and the nodes do not show yet for which transfer
 * - `paid`: it paid us, in this transaction
 */
export type Came = { state: 'unused' | 'spent' | 'unknown' } | { state: 'paid'; txHash: Hash }

/** Asks the chain for the outcome of an authorization. Throws when no node answers. */
export async function whatCame(chain: Chain, transfer: Authorization & WantedTransfer): Promise<Came> {
  const wallet = chain.gasWallet!
  if (!(await wallet.payerOf(transfer)).isUsed)
    return { state: (await wallet.isWaiting(transfer)) ? 'unknown' : 'unused' }
  const used = await wallet.usedIn(transfer)
  if (!used) return { state: 'unknown' }
  if (used.isCancelled) return { state: 'spent' }
  const receipt = await chain.port.receipt(used.txHash)
  if (!receipt) return { state: 'unknown' }
  return transferIn(receipt, transfer) ? { state: 'paid', txHash: used.txHash } : { state: 'spent' }
}
