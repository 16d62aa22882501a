import type { networks, tokenSymbols } from '@coinrack/contract/invoices.ts'
import type { Address } from 'viem'
import type { ConfirmationPolicy } from './confirmation-policy.ts'

export type Network = (typeof networks)[number]
export type TokenSymbol = (typeof tokenSymbols)[number]

/** As the networks themselves have them (EIP-155); the local chains of the demo bear the same. */
export const chainIds: Record<Network, number> = { base: 8453, ethereum: 1, polygon: 137 }

/** A token that is accepted on a chain. Its address is what counts: fake tokens bear the same symbol. */
export interface TokenSettings {
  symbol: TokenSymbol
  address: Address
  decimals: 6
}

/** Everything the service must be told about a chain that it takes money on. */
export interface ChainSettings {
  chainId: number
  network: Network
  /** Asked in this order; the next one when one fails or lags. */
  rpcUrls: string[]
  /** Where watching begins when this chain was never watched; default: the head at that moment. */
  startBlock?: number
  tokens: TokenSettings[]
  /** Where forwarders bring the money; the same on all chains, or deposit addresses would differ. */
  treasury: Address
  confirmation: ConfirmationPolicy
  /** Milliseconds between two looks at the chain. */
  pollMs: number
  /**
   * A local development chain: blocks are mined while a deposit waits for them, and blocks that it lost with its
   * machine are reported and never taken for a reorganisation.
   */
  demo?: boolean
}
