import pLimit from 'p-limit'
import { createPublicClient, createWalletClient, erc20Abi, type Hex, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { DemoBody } from './demo-chains.ts'
import { minedReceipt } from './mined-receipt.ts'

/** Two transactions sent at once would take the same nonce, and the node would refuse one. */
const oneAtATime = pLimit(1)

/**
 * Sends test tokens from the faucet on a local chain, as a wallet would.
 * @param to `amount_atomic` is in the smallest unit of the token
 * @returns the hash of the transaction, which succeeded
 */
export async function payFromFaucet(
  demo: DemoBody,
  to: { chain_id: number; token_address: string; address: string; amount_atomic: string },
): Promise<Hex> {
  const rpcUrl = demo.chains.find(({ chain_id }) => chain_id === to.chain_id)!.rpc_url
  const transport = http(rpcUrl)
  const wallet = createWalletClient({ account: privateKeyToAccount(demo.faucet_key), transport })
  const hash = await oneAtATime(() =>
    wallet.writeContract({
      chain: null,
      address: to.token_address as Hex,
      abi: erc20Abi,
      functionName: 'transfer',
      args: [to.address as Hex, BigInt(to.amount_atomic)],
    }),
  )
  const node = createPublicClient({ transport })
  const { status } = await minedReceipt(node, hash)
  if (status !== 'success') throw new Error(`The payment from the faucet failed in ${hash}`)
  return hash
}
