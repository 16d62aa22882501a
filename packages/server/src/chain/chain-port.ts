import type { Address, Hash, Hex } from 'viem'
import type { ChainSettings, Network } from './chain-settings.ts'
import type { GasWallet } from './gas-wallet.ts'

export interface BlockRef {
  number: number
  hash: Hash
}

export interface Block extends BlockRef {
  parentHash: Hash
  /** Seconds since 1970. */
  timestamp: number
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

/** What a chain says of an address that is to be paid in a token. */
export interface Payee {
  /** It is a contract. An account that lets code act for it (EIP-7702) still has its key, and is none. */
  hasCode: boolean
  /** The token's issuer blocks it, or has paused the token. */
  isRefused: boolean
}

/** No endpoint of a chain gave a usable answer. */
export class ChainUnavailableError extends Error {
  override name = 'ChainUnavailableError'
}

/** An endpoint does not have the newest blocks yet that it was asked about: it is well all the same. */
export class NodeLagsError extends Error {
  override name = 'NodeLagsError'
}

/** One endpoint of a chain, and its word alone. Every call fails when it gives no usable answer in time. */
export interface ChainNode {
  /** What operators are told it by; without what is secret in its address. */
  readonly name: string
  /** Undefined when it has no such block. */
  block(which: BlockTag | number): Promise<Block | undefined>
  /**
   * All transfers of accepted tokens in these blocks, both included, in order, each once.
   * @param keeps is asked about the recipient of each, in lower case; those that it does not want are left out
   * @param to asks for those to one recipient alone, in lower case: nodes have an index of it
   * @throws NodeLagsError rather than answer for blocks that it has not seen itself
   */
  transfers(
    fromBlock: number,
    toBlock: number,
    keeps?: (to: Hex) => boolean,
    to?: Hex,
  ): Promise<TransferLog[]>
  /** Undefined while the transaction is in no block. */
  receipt(txHash: Hash): Promise<TransferReceipt | undefined>
  /** @param payer whom the token would be paid by */
  payee(token: Hex, payer: Hex, address: Hex): Promise<Payee>
  /** The code at an address now; undefined where there is none. */
  code(address: Address): Promise<Hex | undefined>
  /** Whether the contract at an address takes this for its signature of a hash (ERC-1271). */
  approves(address: Address, hash: Hash, signature: Hex): Promise<boolean>
  /** Makes an empty block; demo chains only. */
  mine?(): Promise<void>
}

/** How an endpoint does. */
export interface Endpoint {
  name: string
  /** Why it is not relied on now; undefined when it is well. */
  trouble: string | undefined
}

/** The chain as payments need it: what its endpoints say together. Every call fails when none answers. */
export interface ChainPort {
  readonly chainId: number
  readonly network: Network
  /** The newest block that enough endpoints have: of two the lower, of more the one that most have reached. */
  newest(): Promise<BlockRef>
  /** The newest block that two endpoints, or the only one, call safe or finalized; undefined while fewer do. */
  promised(tag: 'safe' | 'finalized'): Promise<number | undefined>
  /** A block as one endpoint has it; undefined when that one lacks it. */
  block(number: number): Promise<Block | undefined>
  /** The endpoints that are relied on, to read from one at a time; another is the first after each `newest()`. */
  readers(): ChainNode[]
  /** The answer of each endpoint, in the order of the settings; undefined for those that do not answer now. */
  askAll<T>(question: (node: ChainNode) => Promise<T>): Promise<({ answer: T } | undefined)[]>
  /** From whichever endpoint has it; undefined when none has. */
  receipt(txHash: Hash): Promise<TransferReceipt | undefined>
  /** All of them, in the order of the settings. */
  endpoints(): Endpoint[]
  /** Makes an empty block; demo chains only. */
  mine?(): Promise<void>
}

/** A chain that the service takes money on. */
export interface Chain {
  settings: ChainSettings
  port: ChainPort
  /** Where customers can pay by signature alone (x402). */
  gasWallet?: GasWallet | undefined
  /** How many payments by signature the gas wallet could send when it was last looked at; undefined before. */
  settlementsLeft?: number | undefined
  /** When the service last looked at it, and got to its end. */
  lookedAt?: Date | undefined
  /**
   * Proves the settings that no endpoint could be asked about at the start: the chain is offered to nobody and looked at
   * for nobody before. Absent once they are proven.
   */
  prove?: (() => Promise<void>) | undefined
}
