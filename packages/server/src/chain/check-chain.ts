import { type Address, createPublicClient, fallback, http, parseAbi, type Transport } from 'viem'
import { ChainUnavailableError } from './chain-port.ts'
import type { ChainSettings, TokenSettings } from './chain-settings.ts'
import { deterministicDeployer } from './deterministic-deployer.ts'
import { forwarderContracts } from './forwarder-factory.ts'

const TIMEOUT_MS = 5_000

const metadata = parseAbi([
  'function decimals() view returns (uint8)',
  'function symbol() view returns (string)',
])

/** The symbols that the issuers' own contracts have on some networks. */
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
 * Checks the settings against the chain itself: chain id, treasury, deployer, the contracts behind deposit addresses, and
 * the code, decimals and symbol of each token. A service whose settings fail this must not start. Endpoints that do not
 * answer now are checked when they do.
 * @throws ChainSettingsError with every problem; ChainUnavailableError when no endpoint answers
 */
export async function checkChain(settings: ChainSettings): Promise<void> {
  const { chainId, network } = settings
  const problems: string[] = []
  const present: Transport[] = []
  let failure: Error | undefined
  await Promise.all(
    settings.rpcUrls.map(async (url) => {
      const transport = http(url, { timeout: TIMEOUT_MS, retryCount: 1 })
      try {
        const answered = await createPublicClient({ transport }).getChainId()
        if (answered === chainId) present.push(transport)
        else problems.push(`${new URL(url).host} is a node of chain ${answered}`)
      } catch (error) {
        failure = error as Error
      }
    }),
  )
  if (present.length === 0 && problems.length === 0)
    throw new ChainUnavailableError(`No endpoint of ${network} answers`, { cause: failure })
  if (present.length > 0) problems.push(...(await problemsOf(settings, present)))
  if (problems.length > 0) {
    throw new ChainSettingsError(
      `The settings of ${network} (chain ${chainId}) do not hold: ${problems.join('; ')}`,
    )
  }
}

/** The contradictions between the contracts of a chain and its settings. */
async function problemsOf(
  { network, treasury, tokens }: ChainSettings,
  endpoints: Transport[],
): Promise<string[]> {
  const problems: string[] = []
  const client = createPublicClient({ transport: fallback(endpoints) })
  const hasCode = async (address: Address) => ((await client.getCode({ address })) ?? '0x') !== '0x'

  if (!(await hasCode(treasury))) {
    problems.push(`the treasury ${treasury} has no code: it must be a multisig that exists on this chain`)
  }
  if (!(await hasCode(deterministicDeployer))) {
    problems.push(`the deployer ${deterministicDeployer} is missing, so forwarders cannot be deployed`)
  }
  for (const { name, address, code } of forwarderContracts(treasury)) {
    const there = await client.getCode({ address })
    if (there === code) continue
    problems.push(
      there
        ? `the ${name} at ${address} is another contract`
        : `the ${name} is not at ${address} yet: npm run operator -- treasury deploy ${network} prepares the transaction that puts it there`,
    )
  }
  for (const token of tokens) {
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
  return problems
}
