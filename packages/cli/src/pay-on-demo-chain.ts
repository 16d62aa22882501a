import { setTimeout as sleep } from 'node:timers/promises'
import {
  createPublicClient,
  createWalletClient,
  erc20Abi,
  type Hex,
  http,
  type PublicClient,
  parseGwei,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/** The answer of `GET /demo`: the local chains, and a key that holds plenty of every test token. */
export interface DemoMoney {
  chains: { chain_id: number; rpc_url: string }[]
  faucet_key: Hex
}

const POLLING_MS = 100
const MINED_MS = 60_000
/** Always the same: a second transaction with the nonce of another can then never replace it, and is refused. */
const FEES = { maxFeePerGas: parseGwei('100'), maxPriorityFeePerGas: parseGwei('1') }
const MOST_ATTEMPTS = 50
const REFUSED_MS = 100

/** @throws Error that says what to do, when there is no service or it takes real money only */
export async function fetchDemoMoney(origin: string): Promise<DemoMoney> {
  const response = await fetch(`${origin}/demo`)
  if (response.ok) return (await response.json()) as DemoMoney
  throw new Error(
    `The service at ${origin} has no test money (GET /demo answers ${response.status}): this demo needs the demo profile, which npm start runs.`,
  )
}

/**
 * Transfers tokens as a wallet would: signed here, sent to the chain, seen in a block.
 * @param option one of the `payment_options` of an invoice
 * @returns the hash of the transaction
 */
export async function payOnDemoChain(
  money: DemoMoney,
  option: { chain_id: number; token_address: string; address: string; amount_atomic: string },
): Promise<Hex> {
  const chain = money.chains.find(({ chain_id }) => chain_id === option.chain_id)
  if (!chain) throw new Error(`The demo has no chain ${option.chain_id}`)
  const transport = http(chain.rpc_url)
  const wallet = createWalletClient({ account: privateKeyToAccount(money.faucet_key), transport })
  const hash = await untilTaken(() =>
    wallet.writeContract({
      chain: null,
      address: option.token_address as Hex,
      abi: erc20Abi,
      functionName: 'transfer',
      args: [option.address as Hex, BigInt(option.amount_atomic)],
      ...FEES,
    }),
  )
  if ((await statusOf(createPublicClient({ transport }), hash)) !== 'success')
    throw new Error(`The transfer ${hash} was reverted`)
  return hash
}

/** It is asked for until it is there: a chain that mines for transactions alone makes no later block that announces it. */
async function statusOf(node: Pick<PublicClient, 'getTransactionReceipt'>, hash: Hex) {
  for (let waited = 0; waited < MINED_MS; waited += POLLING_MS) {
    const receipt = await node.getTransactionReceipt({ hash }).catch((error: Error) => {
      if (error.name !== 'TransactionReceiptNotFoundError') throw error
    })
    if (receipt) return receipt.status
    await sleep(POLLING_MS)
  }
  throw new Error(`The transfer ${hash} is in no block after ${MINED_MS / 1000} seconds`)
}

/** All runs of a demo share one key: if two take the same nonce, the node refuses one, which then takes the next. */
async function untilTaken(send: () => Promise<Hex>): Promise<Hex> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send()
    } catch (error) {
      const isNonceTaken = /nonce too low|already imported|replacement transaction underpriced/.test(
        String(error),
      )
      if (!isNonceTaken || attempt === MOST_ATTEMPTS) throw error
      await sleep(REFUSED_MS)
    }
  }
}
