import { numberToHex } from 'viem'
import type { ChainSettings, Network } from './chain-settings.ts'

/** The description with which a wallet adds a network that it does not know (EIP-3085). */
export interface WalletChain {
  chainId: `0x${string}`
  chainName: string
  nativeCurrency: { name: string; symbol: string; decimals: 18 }
  rpcUrls: string[]
  blockExplorerUrls?: string[]
}

interface PublicNetwork {
  name: string
  coin: { name: string; symbol: string }
  rpcUrl: string
  explorer: string
}

const ether = { name: 'Ether', symbol: 'ETH' }

/** Public endpoints for wallets: those of the operator may contain a secret, and are never disclosed. */
export const publicNetworks: Record<Network, PublicNetwork> = {
  base: { name: 'Base', coin: ether, rpcUrl: 'https://mainnet.base.org', explorer: 'https://basescan.org' },
  ethereum: {
    name: 'Ethereum',
    coin: ether,
    rpcUrl: 'https://ethereum.reth.rs/rpc',
    explorer: 'https://etherscan.io',
  },
  polygon: {
    name: 'Polygon',
    coin: { name: 'POL', symbol: 'POL' },
    rpcUrl: 'https://polygon.drpc.org',
    explorer: 'https://polygonscan.com',
  },
}

/** The block explorer of a chain; undefined for a local one, which no explorer shows. */
export const explorerOf = ({ network, demo }: ChainSettings): string | undefined =>
  demo ? undefined : publicNetworks[network].explorer

/** A chain as a wallet adds it. The local chains of the demo are given with their own endpoints. */
export function walletChain(settings: ChainSettings): WalletChain {
  const { name, coin, rpcUrl } = publicNetworks[settings.network]
  const explorer = explorerOf(settings)
  return {
    chainId: numberToHex(settings.chainId),
    chainName: settings.demo ? `${name} (local demo)` : name,
    nativeCurrency: { ...coin, decimals: 18 },
    rpcUrls: settings.demo ? settings.rpcUrls : [rpcUrl],
    ...(explorer !== undefined && { blockExplorerUrls: [explorer] }),
  }
}
