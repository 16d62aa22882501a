import { type Address, createPublicClient, fallback, http, parseAbi } from 'viem'
import type { ChainSettings, TokenSettings } from './chain-settings.ts'
import { deterministicDeployer } from './deterministic-deployer.ts'

const metadata = parseAbi([
  'function decimals() view returns (uint8)',
  'function symbol() view returns (string)',
])

/** Names that the issuers' own contracts bear on some networks. */
const symbols: Record<TokenSettings['symbol'], string[]> = {
  USDC: ['USDC'],
  USDT: ['USDT', 'USDT0', 'USD₮', 'USD₮0'],
  PYUSD: ['PYUSD'],
}

/** The settings of a chain are wrong: money would be lost or misread with them. */
export class ChainSettingsError extends Error {
  override name = 'ChainSettingsError'
}

/**
 * Asks the chain itself whether its settings are true: chain id, treasury, deployer, and of each token its code,
 * decimals and symbol. Nothing is guessed: a service whose settings fail this must not start.
 * @throws ChainSettingsError with all that is wrong; another error when no node answers
 */
export async function checkChain(settings: ChainSettings): Promise<void> {
  const { chainId, network, treasury } = settings
  const problems: string[] = []
  for (const url of settings.rpcUrls) {
    const answered = await createPublicClient({ transport: http(url) }).getChainId()
    if (answered !== chainId) problems.push(`${new URL(url).host} is a node of chain ${answered}`)
  }
  const client = createPublicClient({ transport: fallback(settings.rpcUrls.map((url) => http(url))) })
  const hasCode = async (address: Address) => ((await client.getCode({ address })) ?? '0x') !== '0x'

  if (!(await hasCode(treasury))) {
    problems.push(`the treasury ${treasury} has no code: it must be a multisig that exists on this chain`)
  }
  if (!(await hasCode(deterministicDeployer))) {
    problems.push(`the deployer ${deterministicDeployer} is missing, so forwarders cannot be deployed`)
  }
  for (const token of settings.tokens) {
    if (!(await hasCode(token.address))) {
      problems.push(`${token.symbol} at ${token.address} has no code`)
      continue
    }
    const read = { abi: metadata, address: token.address } as const
    const decimals = await client.readContract({ ...read, functionName: 'decimals' })
    const symbol = await client.readContract({ ...read, functionName: 'symbol' })
    if (decimals !== token.decimals)
      problems.push(`${token.symbol} has ${decimals} decimals, not ${token.decimals}`)
    if (!symbols[token.symbol].includes(symbol))
      problems.push(`${token.address} is ${symbol}, not ${token.symbol}`)
  }
  if (problems.length > 0) {
    throw new ChainSettingsError(
      `The settings of ${network} (chain ${chainId}) do not hold: ${problems.join('; ')}`,
    )
  }
}
