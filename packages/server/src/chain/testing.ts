import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Address,
  createWalletClient,
  encodeFunctionData,
  type Hash,
  http,
  parseAbi,
  publicActions,
  zeroHash,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { ChainSettings, TokenSymbol } from './chain-settings.ts'
import { type DemoChains, startDemoChains, stopDemoChains } from './demo-chains.ts'
import { deterministicDeployment } from './deterministic-deployer.ts'
import { forwarderFactoryAddress, forwarderFactoryCode } from './forwarder-factory.ts'
import { minedReceipt } from './mined-receipt.ts'

const POLLING_MS = 20

/** The balance and transfer functions of any token, even one whose transfer returns nothing. */
const token = parseAbi([
  'function balanceOf(address) view returns (uint256)',
  'function transfer(address to, uint256 value)',
])

/** The three demo chains in a folder of their own. `stop` ends them and removes the folder. */
export async function startTestChains(): Promise<DemoChains> {
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-chains-'))
  const stop = async () => {
    await stopDemoChains(folder)
    await rm(folder, { recursive: true })
  }
  try {
    return { ...(await startDemoChains({ dataFolder: folder, cacheFolder: folder })), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** A customer's wallet on a demo chain, with the faucet's key. */
export function testWallet(chain: ChainSettings, key: DemoChains['demo']['faucet_key']) {
  const client = createWalletClient({
    account: privateKeyToAccount(key),
    transport: http(chain.rpcUrls[0]),
    pollingInterval: POLLING_MS,
  }).extend(publicActions)
  const addressOf = (symbol: TokenSymbol) => chain.tokens.find((known) => known.symbol === symbol)!.address

  return {
    client,
    /** Sends a transaction, waits for its block and returns its hash; throws when it reverts. */
    async send(transaction: { to: Address; data?: `0x${string}`; value?: bigint }): Promise<Hash> {
      const hash = await client.sendTransaction({ ...transaction, chain: null })
      const { status } = await minedReceipt(client, hash)
      if (status !== 'success') throw new Error(`Transaction ${hash} reverted`)
      return hash
    },
    /** @param amount atomic units */
    async pay(symbol: TokenSymbol, to: Address, amount: bigint): Promise<Hash> {
      const data = encodeFunctionData({ abi: token, functionName: 'transfer', args: [to, amount] })
      return this.send({ to: addressOf(symbol), data })
    },
    balance: (symbol: TokenSymbol, owner: Address): Promise<bigint> =>
      client.readContract({
        abi: token,
        address: addressOf(symbol),
        functionName: 'balanceOf',
        args: [owner],
      }),
  }
}

/** A demo chain with production settings: its treasury is a contract, and has deposit addresses of its own. */
export async function asProduction(
  { demo: _ofDemo, ...chain }: ChainSettings,
  key: DemoChains['demo']['faucet_key'],
): Promise<ChainSettings> {
  const treasury = forwarderFactoryAddress(chain.treasury)
  const code = forwarderFactoryCode(treasury)
  await testWallet(chain, key).send(deterministicDeployment(code, zeroHash))
  return { ...chain, treasury }
}
