import { createHash } from 'node:crypto'
import type { Hash, Hex } from 'viem'
import { chainOfNodes } from './chain-of-nodes.ts'
import {
  type Block,
  type ChainNode,
  type ChainPort,
  ChainUnavailableError,
  NodeLagsError,
  type TransferLog,
  type TransferReceipt,
} from './chain-port.ts'
import type { ChainSettings, TokenSymbol } from './chain-settings.ts'
import { numberTransfers } from './number-transfers.ts'

interface FakeBlock extends Block {
  transfers: TransferLog[]
}

/** A transfer that is in no block. */
type LooseTransfer = Pick<TransferLog, 'token' | 'from' | 'to' | 'value' | 'txHash'>

/** One payment of a transaction, in the token's smallest unit. */
export interface FakePayment {
  symbol: TokenSymbol
  to: string
  value: bigint
}

/** How an endpoint of a fake chain distorts the truth. */
export interface FakeNode {
  isDown: boolean
  /** How many blocks it lacks. */
  behind: number
  /** How far behind its head its safe and finalized blocks are, when they differ from those of the chain. */
  distance?: FakeChain['distance']
  receipt(receipt: TransferReceipt | undefined, txHash: Hash): TransferReceipt | undefined
  transfers(transfers: TransferLog[]): TransferLog[]
  block(block: Block | undefined): Block | undefined
}

/** A scripted chain for tests of situations that a real node cannot be made to produce at will. */
export interface FakeChain {
  port: ChainPort
  /** Its two endpoints. */
  nodes: [FakeNode, FakeNode]
  /** Makes a block with a transfer in it. */
  pay(symbol: TokenSymbol, to: string, value: bigint): TransferLog
  /** Makes a block with one transaction of several transfers, as exchanges pay. */
  payBatch(payments: FakePayment[]): TransferLog[]
  /** Makes empty blocks. */
  grow(blocks: number): void
  /**
   * Replaces the newest `depth` blocks by one block more; their transfers return in the first of the new blocks, or never.
   * @param foreignLogs the number of unrelated logs that precede them in that block
   */
  reorganise(depth: number, transfers: 'kept' | 'dropped', foreignLogs?: number): void
  /** Replaces the newest `depth` blocks by one block more, in which the transaction of the first one makes these payments. */
  rewrite(depth: number, payments: FakePayment[]): TransferLog[]
  /** How far behind the head the safe and finalized blocks are. */
  distance: { safe: number; finalized: number }
  /** Turns the true logs into those that both endpoints show. */
  shown(transfers: TransferLog[]): TransferLog[]
  /** The number of requests to its endpoints so far. */
  calls: number
  /** The ranges of blocks whose logs were requested. */
  ranges: { from: number; to: number }[]
  /** The number of the first request that fails, like every later one. */
  failFrom: number
  /** Called before each request; the first is 1. */
  beforeCall(call: number): void
}

let made = 0
const hashOf = (text: string): Hash => `0x${createHash('sha256').update(text).digest('hex')}`
/** A hash that is unique across all fake chains. */
const newHash = () => hashOf(String(made++))

export function fakeChain(settings: ChainSettings): FakeChain {
  const blocks: FakeBlock[] = []
  const append = (transfers: LooseTransfer[], foreignLogs = 0) => {
    const number = blocks.length
    const hash = number === 0 ? hashOf(`genesis of ${settings.chainId}`) : newHash()
    const placed = transfers.map((transfer, index) => ({
      ...transfer,
      logIndex: foreignLogs + index,
      blockNumber: number,
      blockHash: hash,
    }))
    const parentHash = blocks.at(-1)?.hash ?? hashOf('before genesis')
    blocks.push({ number, hash, parentHash, timestamp: number * 2, transfers: numberTransfers(placed) })
    return blocks.at(-1)!.transfers
  }
  append([])

  const inTransaction = (txHash: Hash, payments: FakePayment[]): LooseTransfer[] =>
    payments.map(({ symbol, to, value }) => {
      const token = settings.tokens.find((known) => known.symbol === symbol)!.address.toLowerCase() as Hex
      return { token, from: token, to: to.toLowerCase() as Hex, value, txHash }
    })
  const showBlock = (block: FakeBlock | undefined): Block | undefined =>
    block && {
      number: block.number,
      hash: block.hash,
      parentHash: block.parentHash,
      timestamp: block.timestamp,
    }
  const answer = async <T>(how: FakeNode, value: () => T): Promise<T> => {
    fake.beforeCall(++fake.calls)
    if (how.isDown || fake.calls >= fake.failFrom) throw new ChainUnavailableError('The fake node is down')
    return value()
  }
  const receiptOf = (txHash: Hash): TransferReceipt | undefined => {
    const block = blocks.find(({ transfers }) => transfers.some((transfer) => transfer.txHash === txHash))
    if (!block) return undefined
    const transfers = block.transfers.filter((transfer) => transfer.txHash === txHash)
    return { succeeded: true, block: { number: block.number, hash: block.hash }, transfers }
  }

  const nodeOf = (name: string, how: FakeNode): ChainNode => {
    const head = () => Math.max(0, blocks.length - 1 - how.behind)
    return {
      name,
      block: (which) =>
        answer(how, () => {
          const behind = { latest: 0, ...(how.distance ?? fake.distance) }
          const number = typeof which === 'number' ? which : Math.max(0, head() - behind[which])
          return how.block(number > head() ? undefined : showBlock(blocks[number]))
        }),
      transfers: (from, to, keeps = () => true, recipient = undefined) =>
        answer(how, () => {
          fake.ranges.push({ from, to })
          if (to > head()) throw new NodeLagsError('The fake node lags')
          const shown = fake.shown(blocks.slice(from, to + 1).flatMap((block) => block.transfers))
          const isMeant = (one: Hex) => keeps(one) && (recipient === undefined || one === recipient)
          return how.transfers(shown).filter((transfer) => isMeant(transfer.to))
        }),
      payee: () => answer(how, () => ({ hasCode: false, isRefused: false })),
      receipt: (txHash) =>
        answer(how, () => {
          const receipt = receiptOf(txHash)
          return how.receipt(receipt && receipt.block.number > head() ? undefined : receipt, txHash)
        }),
      code: () => answer(how, () => undefined),
      approves: () => answer(how, () => false),
    }
  }
  const honest = (): FakeNode => ({
    isDown: false,
    behind: 0,
    receipt: (receipt) => receipt,
    transfers: (transfers) => transfers,
    block: (block) => block,
  })
  const nodes: FakeChain['nodes'] = [honest(), honest()]
  // An hour passes between two readings of the clock, so an endpoint that failed is asked again at once.
  let asked = 0
  const now = () => asked++ * 3_600_000

  const fake: FakeChain = {
    distance: { safe: 10, finalized: 20 },
    nodes,
    shown: (transfers) => transfers,
    calls: 0,
    ranges: [],
    failFrom: Number.POSITIVE_INFINITY,
    beforeCall: () => {},
    port: chainOfNodes(settings, [nodeOf('first', nodes[0]), nodeOf('second', nodes[1])], now),
    pay: (symbol, to, value) => fake.payBatch([{ symbol, to, value }])[0]!,
    payBatch: (payments) => append(inTransaction(newHash(), payments)),
    grow(count) {
      for (let index = 0; index < count; index++) append([])
    },
    reorganise(depth, transfers, foreignLogs = 0) {
      const dropped = blocks.splice(-depth)
      append(transfers === 'kept' ? dropped.flatMap((block) => block.transfers) : [], foreignLogs)
      fake.grow(depth)
    },
    rewrite(depth, payments) {
      const { txHash } = blocks.splice(-depth)[0]!.transfers[0]!
      const transfers = append(inTransaction(txHash, payments))
      fake.grow(depth)
      return transfers
    },
  }
  return fake
}
