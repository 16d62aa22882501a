import type { networks, tokenSymbols } from '@coinrack/contract/invoices.ts'
import type { Address } from 'viem'
import type { ConfirmationPolicy } from './confirmation-policy.ts'

export type Network = (typeof networks)[number]
export type TokenSymbol = (typeof tokenSymbols)[number]

/** The chain ids of the networks themselves (EIP-155); the local chains of the demo use the same ones. */
export const chainIds: Record<Network, number> = { base: 8453, ethereum: 1, polygon: 137 }

/** A token that is accepted on a chain. Only its address identifies it: fake tokens bear the same symbol. */
export interface TokenSettings {
  symbol: TokenSymbol
  address: Address
  decimals: 6
}

/** The settings of a chain on which the service takes money. */
export interface ChainSettings {
  chainId: number
  network: Network
  /** The JSON-RPC endpoints. The gas wallet tries them in this order; other reads start at another one at each look. */
  rpcUrls: string[]
  /** The block from which a chain that was never watched is watched; by default the head at that moment. */
  startBlock?: number
  tokens: TokenSettings[]
  /** The address to which forwarders send the money; the same on all chains, since deposit addresses depend on it. */
  treasury: Address
  confirmation: ConfirmationPolicy
  /** The milliseconds between two looks at the chain. */
  pollMs: number
  /**
   * Whether this is a local development chain: blocks are mined while a deposit waits for them, and blocks that were lost
   * with its machine are reported and never treated as a reorg.
   */
  demo?: boolean
}
