import type { Hash, Hex } from 'viem'
import type { ChainSettings, Network } from './chain-settings.ts'
import type { GasWallet } from './gas-wallet.ts'

export interface BlockRef {
  number: number
  hash: Hash
}

export interface Block extends BlockRef {
  parentHash: Hash
}

export type BlockTag = 'latest' | 'safe' | 'finalized'

/** A Transfer log of an accepted token. Addresses are lower-case. */
export interface TransferLog {
  token: Hex
  from: Hex
  to: Hex
  /** In the token's smallest unit. */
  value: bigint
  txHash: Hash
  /** Within the block, so a transaction that moves to another block can get another one. */
  logIndex: number
  /**
   * Which it is, from 0, of the transfers of its transaction with the same token, recipient and value. The log index
   * changes with the block, this one does not.
   */
  ordinal: number
  blockNumber: number
  blockHash: Hash
}

/** What came of a transaction: nothing when it reverted. */
export interface TransferReceipt {
  succeeded: boolean
  block: BlockRef
  transfers: TransferLog[]
}

/** The chain as payments need it. Every call may fail when no node answers. */
export interface ChainPort {
  readonly chainId: number
  readonly network: Network
  /** Undefined when the chain has no such block. */
  block(which: BlockTag | number): Promise<Block | undefined>
  /**
   * All transfers of accepted tokens in these blocks, both included, in order.
   * Fails rather than answer for blocks that the node asked has not seen itself.
   */
  transfers(fromBlock: number, toBlock: number): Promise<TransferLog[]>
  /** Undefined while the transaction is in no block. */
  receipt(txHash: Hash): Promise<TransferReceipt | undefined>
  /** How many nodes are asked. */
  readonly nodes: number
  /** The receipt as each node has it; those that do not answer are left out. */
  receipts(txHash: Hash): Promise<(TransferReceipt | undefined)[]>
  /** Makes an empty block; demo chains only. */
  mine?(): Promise<void>
}

/** A chain that the service takes money on. */
export interface Chain {
  settings: ChainSettings
  port: ChainPort
  /** Where customers can pay by signature alone (x402). */
  gasWallet?: GasWallet
}
