import type { Address, Hash, Hex } from 'viem'
import type { ChainSettings, Network } from './chain-settings.ts'
import type { GasWallet } from './gas-wallet.ts'

export interface BlockRef {
  number: number
  hash: Hash
}

export interface Block extends BlockRef {
  parentHash: Hash
  /** Unix seconds. */
  timestamp: number
}

export type BlockTag = 'latest' | 'safe' | 'finalized'

/** A Transfer log of an accepted token. Addresses are lower-case. */
export interface TransferLog {
  token: Hex
  from: Hex
  to: Hex
  /** The amount in the token's smallest unit. */
  value: bigint
  txHash: Hash
  /** The index within the block, so that a transaction which moves to another block can get another one. */
  logIndex: number
  /**
   * Its number, from 0, among the transfers of its transaction with the same token, recipient and value. Unlike the log
   * index, it does not change with the block.
   */
  ordinal: number
  blockNumber: number
  blockHash: Hash
}

/** The outcome of a transaction, without transfers when it reverted. */
export interface TransferReceipt {
  succeeded: boolean
  block: BlockRef
  transfers: TransferLog[]
}

/** The facts that a chain shows about an address to be paid in a token. */
export interface Payee {
  /** Whether it is a contract. An account that delegates to code (EIP-7702) still has its key, and is no contract. */
  hasCode: boolean
  /** Whether the token's issuer blocks it, or has paused the token. */
  isRefused: boolean
}

/** No endpoint of a chain gave a usable answer. */
export class ChainUnavailableError extends Error {
  override name = 'ChainUnavailableError'
}

/** An endpoint does not have the requested newest blocks yet; it counts as healthy nevertheless. */
export class NodeLagsError extends Error {
  override name = 'NodeLagsError'
}

/** One endpoint of a chain, with its own answers only. Every call fails when it gives no usable answer in time. */
export interface ChainNode {
  /** The name by which operators are told of it, without the secrets in its URL. */
  readonly name: string
  /** Undefined when it has no such block. */
  block(which: BlockTag | number): Promise<Block | undefined>
  /**
   * All transfers of accepted tokens in these blocks, both ends included, in order, each once.
   * @param keeps decides by the recipient of a transfer, in lower case, whether to include it
   * @param to limits the transfers to one recipient, in lower case, which nodes have an index for
   * @throws NodeLagsError instead of an answer for blocks that the endpoint has not seen itself
   */
  transfers(
    fromBlock: number,
    toBlock: number,
    keeps?: (to: Hex) => boolean,
    to?: Hex,
  ): Promise<TransferLog[]>
  /** Undefined while the transaction is in no block. */
  receipt(txHash: Hash): Promise<TransferReceipt | undefined>
  /** @param payer the address that would pay the token */
  payee(token: Hex, payer: Hex, address: Hex): Promise<Payee>
  /** The code at an address now; undefined where there is none. */
  code(address: Address): Promise<Hex | undefined>
  /** Whether the contract at an address accepts this as its signature of a hash (ERC-1271). */
  approves(address: Address, hash: Hash, signature: Hex): Promise<boolean>
  /** Makes an empty block; demo chains only. */
  mine?(): Promise<void>
}

/** The health of an endpoint. */
export interface Endpoint {
  name: string
  /** Why it is not relied on now; undefined when it is healthy. */
  trouble: string | undefined
}

/** The chain as payments need it, from the combined answers of its endpoints. Every call fails when none answers. */
export interface ChainPort {
  readonly chainId: number
  readonly network: Network
  /** The newest block that enough endpoints have: the lower of two, or of more the one that most have reached. */
  newest(): Promise<BlockRef>
  /** The newest block that two endpoints, or the only one, call safe or finalized; undefined while fewer do. */
  promised(tag: 'safe' | 'finalized'): Promise<number | undefined>
  /** A block from one endpoint; undefined when that endpoint lacks it. */
  block(number: number): Promise<Block | undefined>
  /** The endpoints that are relied on, to read from one at a time; the first one changes with each `newest()`. */
  readers(): ChainNode[]
  /** The answer of each endpoint, in the order of the settings; undefined for one that does not answer now. */
  askAll<T>(question: (node: ChainNode) => Promise<T>): Promise<({ answer: T } | undefined)[]>
  /** The receipt from any endpoint that has it; undefined when none has. */
  receipt(txHash: Hash): Promise<TransferReceipt | undefined>
  /** All endpoints, in the order of the settings. */
  endpoints(): Endpoint[]
  /** Makes an empty block; demo chains only. */
  mine?(): Promise<void>
}

/** A chain on which the service takes money. */
export interface Chain {
  settings: ChainSettings
  port: ChainPort
  /** Present when customers can pay by signature alone (x402). */
  gasWallet?: GasWallet | undefined
  /** How many payments by signature the gas wallet could send at the last check; undefined before the first. */
  settlementsLeft?: number | undefined
  /** When the service last looked at the chain and reached its newest block. */
  lookedAt?: Date | undefined
  /**
   * Verifies settings that could not be checked at the start, because no endpoint answered. Until then the chain is
   * neither offered nor watched. Absent once the settings are verified.
   */
  prove?: (() => Promise<void>) | undefined
}
