import type { RunAs } from '@coinrack/host/as-user.ts'
import { type Address, encodeDeployData, type Hex, numberToHex } from 'viem'
import { anvilBinary } from './anvil-binary.ts'
import type { ChainSettings, Network, TokenSettings } from './chain-settings.ts'
import { confirmationPolicies } from './confirmation-policy.ts'
import { demoClient, startDemoNode, stopDemoNode } from './demo-node.ts'
import {
  deterministicAddress,
  deterministicDeployer,
  deterministicDeployment,
} from './deterministic-deployer.ts'
import { forwarderFactoryCode } from './forwarder-factory.ts'
import { TestPYUSD, TestUSDC, TestUSDT } from './generated/contracts.ts'
import { minedReceipt } from './mined-receipt.ts'

/** The first well-known development account (`test test ... junk`), which holds all tokens; its key is public. */
const faucet: Address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const faucetKey: Hex = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
/** The tenth one, so that moving money out of the treasury can be tried too. */
const treasury: Address = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'
/** Atomic units: 1e9 of each token. */
const supply = 1_000_000_000n * 1_000_000n

/** Wei, enough gas for as long as a demo runs. */
const gasMoney = 1_000_000n * 10n ** 18n

const networks: { chainId: number; network: Network }[] = [
  { chainId: 8453, network: 'base' },
  { chainId: 1, network: 'ethereum' },
  { chainId: 137, network: 'polygon' },
]
const tokenCode = {
  USDC: encodeDeployData({ ...TestUSDC, args: [faucet, supply] }),
  USDT: encodeDeployData({ ...TestUSDT, args: [faucet, supply] }),
  PYUSD: encodeDeployData({ ...TestPYUSD, args: [faucet, supply] }),
}

/** The answer of `GET /demo`: enough for any wallet program to pay on the local chains. */
export interface DemoBody {
  chains: { chain_id: number; rpc_url: string; tokens: Record<string, Address> }[]
  faucet_key: Hex
}

export interface DemoChains {
  chains: ChainSettings[]
  demo: DemoBody
  stop(): Promise<void>
}

export interface DemoChainsOptions {
  dataFolder: string
  cacheFolder: string
  /** The user that the nodes run as; by default that of the caller. */
  user?: RunAs
  /** Receives short progress messages. */
  onProgress?: (line: string) => void
}

/**
 * Starts the three local chains with all nine tokens, or adopts them when they are running.
 * They outlive the process that started them; `stop` or `stopDemoChains` ends them and keeps their state.
 */
export async function startDemoChains(options: DemoChainsOptions): Promise<DemoChains> {
  const { dataFolder, cacheFolder, user } = options
  const anvil = await anvilBinary(user && cacheFolder)
  const chains = await Promise.all(
    networks.map(async ({ chainId, network }): Promise<ChainSettings> => {
      const rpcUrl = await startDemoNode(chainId, { dataFolder, anvil, user })
      const tokens = demoTokens(chainId)
      await deployMissing(rpcUrl, chainId)
      options.onProgress?.(`Demo chain ${network} (${chainId}) at ${rpcUrl}`)
      const confirmation = confirmationPolicies[network]
      return {
        chainId,
        network,
        rpcUrls: [rpcUrl],
        startBlock: 0,
        tokens,
        treasury,
        confirmation,
        pollMs: 1_000,
        demo: true,
      }
    }),
  )
  const demo: DemoBody = {
    chains: chains.map(({ chainId, rpcUrls, tokens }) => ({
      chain_id: chainId,
      rpc_url: rpcUrls[0]!,
      tokens: Object.fromEntries(tokens.map(({ symbol, address }) => [symbol, address])),
    })),
    faucet_key: faucetKey,
  }
  return { chains, demo, stop: () => stopDemoChains(dataFolder) }
}

/** Gives an account coins for gas on each local chain where it has none. */
export async function fundOnDemoChains(chains: ChainSettings[], address: Address): Promise<void> {
  for (const { rpcUrls } of chains) {
    const client = demoClient(rpcUrls[0]!)
    if ((await client.getBalance({ address })) === 0n) await client.setBalance({ address, value: gasMoney })
  }
}

/** Ends the demo chains of this data folder, regardless of which process started them. */
export async function stopDemoChains(dataFolder: string): Promise<void> {
  await Promise.all(networks.map(({ chainId }) => stopDemoNode(dataFolder, chainId)))
}

/** The salt is the chain id, so that a token has another address on each chain, as real tokens do. */
const saltOf = (chainId: number) => numberToHex(chainId, { size: 32 })

function demoTokens(chainId: number): TokenSettings[] {
  return Object.entries(tokenCode).map(([symbol, code]) => ({
    symbol: symbol as TokenSettings['symbol'],
    address: deterministicAddress(code, saltOf(chainId)),
    decimals: 6,
  }))
}

/** Deploys the tokens and the forwarder factory unless they are on the chain already. */
async function deployMissing(rpcUrl: string, chainId: number): Promise<void> {
  const client = demoClient(rpcUrl)
  if (!(await client.getCode({ address: deterministicDeployer }))) {
    throw new Error(`Chain ${chainId} lacks the deterministic deployer at ${deterministicDeployer}`)
  }
  const wanted = [
    ...Object.values(tokenCode).map((code) => ({ code, salt: saltOf(chainId) })),
    { code: forwarderFactoryCode(treasury), salt: numberToHex(0, { size: 32 }) },
  ]
  for (const { code, salt } of wanted) {
    if (await client.getCode({ address: deterministicAddress(code, salt) })) continue
    const { to, data } = deterministicDeployment(code, salt)
    const hash = await client.request({
      method: 'eth_sendTransaction' as never,
      params: [{ from: faucet, to, data }] as never,
    })
    const { status } = await minedReceipt(client, hash)
    if (status !== 'success') throw new Error(`Deploying on demo chain ${chainId} failed in ${hash}`)
  }
}
