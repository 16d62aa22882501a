import { networks, tokenSymbols } from '@coinrack/contract/invoices.ts'
import { type Address, getAddress, isAddress } from 'viem'
import { z } from 'zod'
import { type ChainSettings, chainIds, type Network, type TokenSettings } from './chain-settings.ts'
import { confirmationPolicies } from './confirmation-policy.ts'

/** The built-in settings of a network; endpoints, treasury and changes come from the operator. */
type NetworkDefaults = Pick<ChainSettings, 'chainId' | 'network' | 'tokens' | 'pollMs'>

const token = (symbol: TokenSettings['symbol'], address: TokenSettings['address']): TokenSettings => ({
  symbol,
  address,
  decimals: 6,
})

/**
 * The tokens whose issuer has a contract on each network.
 *
 * Three of the nine cells are missing on purpose, and the operator can add them by address:
 * USDT on Base (0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2) is a bridge's token that the issuer does not endorse;
 * for PYUSD on Base and on Polygon no contract of the issuer is known.
 * USDC on Polygon is the native one, not the bridged USDC.e at 0x2791...
 */
const productionChains: Record<Network, NetworkDefaults> = {
  base: {
    chainId: chainIds.base,
    network: 'base',
    pollMs: 2_000,
    tokens: [token('USDC', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913')],
  },
  ethereum: {
    chainId: chainIds.ethereum,
    network: 'ethereum',
    pollMs: 6_000,
    tokens: [
      token('USDC', '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'),
      token('USDT', '0xdAC17F958D2ee523a2206206994597C13D831ec7'),
      token('PYUSD', '0x6c3ea9036406852006290770BEdFcAbA0e23A0e8'),
    ],
  },
  polygon: {
    chainId: chainIds.polygon,
    network: 'polygon',
    pollMs: 2_000,
    tokens: [
      token('USDC', '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'),
      token('USDT', '0xc2132D05D31c914a87C6611C10748AEb04B58e8F'),
    ],
  },
}

const AddressText = z
  .string()
  .refine((text) => isAddress(text), 'Expected an address with its checksum')
  .transform((text): Address => getAddress(text))

/** The file of `COINRACK_CHAINS`: one treasury, and the networks on which money is taken. */
const ChainsFile = z.strictObject({
  treasury: AddressText,
  chains: z
    .array(
      z.strictObject({
        network: z.enum(networks),
        rpc_urls: z
          .array(z.url({ protocol: /^https?$/ }))
          .refine(
            (urls) => new Set(urls.map((url) => URL.parse(url)?.host)).size > 1,
            'Expected endpoints of at least two hosts: money is not credited on the word of one',
          ),
        start_block: z.number().int().min(0).optional(),
        /** An address adds a token to the defaults, and null removes one. */
        tokens: z.partialRecord(z.enum(tokenSymbols), AddressText.nullable()).default({}),
      }),
    )
    .min(1)
    .refine(
      (chains) => new Set(chains.map(({ network }) => network)).size === chains.length,
      'A network is named twice',
    ),
})

/**
 * Reads the operator's file of chains; omitted settings are those that issuers and networks publish.
 * All chains have the same treasury, since deposit addresses depend on it.
 * @throws an Error that names every wrong field
 */
export function readProductionChains(text: string): ChainSettings[] {
  const result = ChainsFile.safeParse(JSON.parse(text))
  if (!result.success) throw new Error(`The chains file does not hold:\n${z.prettifyError(result.error)}`)
  const { treasury, chains } = result.data
  return chains.map(({ network, rpc_urls, start_block, tokens }) => {
    const defaults = productionChains[network]
    const wanted = new Map(defaults.tokens.map(({ symbol, address }) => [symbol, address]))
    for (const [symbol, address] of Object.entries(tokens) as [TokenSettings['symbol'], Address | null][]) {
      if (address) wanted.set(symbol, address)
      else wanted.delete(symbol)
    }
    return {
      ...defaults,
      tokens: [...wanted].map(([symbol, address]) => token(symbol, address)),
      rpcUrls: rpc_urls,
      startBlock: start_block,
      treasury,
      confirmation: confirmationPolicies[network],
    }
  })
}
