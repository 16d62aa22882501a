import type { ChainSettings, Network, TokenSettings } from './chain-settings.ts'

/** What is known of a network beforehand; endpoints, treasury and changes come from the operator. */
type NetworkDefaults = Pick<ChainSettings, 'chainId' | 'network' | 'tokens' | 'pollMs'>

const token = (symbol: TokenSettings['symbol'], address: TokenSettings['address']): TokenSettings => ({
  symbol,
  address,
  decimals: 6,
})

/**
 * The tokens with a contract of their issuer on each network.
 *
 * Three of the nine cells are missing on purpose, and the operator can add them by address:
 * USDT on Base (0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2) is a bridge's token that the issuer does not endorse;
 * for PYUSD on Base and on Polygon no contract of the issuer is known.
 * USDC on Polygon is the native one, not the bridged USDC.e at 0x2791...
 */
export const productionChains: Record<Network, NetworkDefaults> = {
  base: {
    chainId: 8453,
    network: 'base',
    pollMs: 2_000,
    tokens: [token('USDC', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913')],
  },
  ethereum: {
    chainId: 1,
    network: 'ethereum',
    pollMs: 6_000,
    tokens: [
      token('USDC', '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'),
      token('USDT', '0xdAC17F958D2ee523a2206206994597C13D831ec7'),
      token('PYUSD', '0x6c3ea9036406852006290770BEdFcAbA0e23A0e8'),
    ],
  },
  polygon: {
    chainId: 137,
    network: 'polygon',
    pollMs: 2_000,
    tokens: [
      token('USDC', '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'),
      token('USDT', '0xc2132D05D31c914a87C6611C10748AEb04B58e8F'),
    ],
  },
}
