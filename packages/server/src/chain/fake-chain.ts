import { createHash } from 'node:crypto'
import type { Hash, Hex } from 'viem'
import type { Block, ChainPort, TransferLog, TransferReceipt } from './chain-port.ts'
import type { ChainSettings, TokenSymbol } from './chain-settings.ts'
import { numberTransfers } from './number-transfers.ts'
import { ChainUnavailableError } from './viem-chain.ts'

interface FakeBlock extends Block {
  transfers: TransferLog[]
}

/** A transfer that is in no block. */
type LooseTransfer = Pick<TransferLog, 'token' | 'from' | 'to' | 'value' | 'txHash'>

/** What a transaction pays, in the token's smallest unit. */
export interface FakePayment {
  symbol: TokenSymbol
  to: string
  value: bigint
}

/** A chain for tests, scripted: for what a real node cannot be made to do at will. */
export interface FakeChain {
  port: ChainPort
  /** Makes a block with a transfer in it. */
  pay(symbol: TokenSymbol, to: string, value: bigint): TransferLog
  /** Makes a block with one transaction of several transfers in it, as exchanges pay. */
  payBatch(payments: FakePayment[]): TransferLog[]
  /** Makes empty blocks. */
  grow(blocks: number): void
  /**
   * Replaces the newest blocks by one empty block more; their transfers come back in the first of them, or never.
   * @param foreignLogs logs of others that stand before them in that block
   */
  reorganise(depth: number, transfers: 'kept' | 'dropped', foreignLogs?: number): void
  /** Replaces the newest blocks by one more; the transaction of the first of them pays something else there. */
  rewrite(depth: number, payments: FakePayment[]): TransferLog[]
  /** How far behind the head the chain's promises are. */
  distance: { safe: number; finalized: number }
  /** The receipts of those of its two nodes that answer, made from the true one. */
  witnesses(receipt: TransferReceipt | undefined): (TransferReceipt | undefined)[]
  /** The logs that its nodes show, made from the true ones. */
  shown(transfers: TransferLog[]): TransferLog[]
  /** Calls to the chain until now. */
  calls: number
  /** Fails every call from this one on. */
  failFrom: number
  /** Happens before each call; the first is 1. */
  beforeCall(call: number): void
}

let made = 0
const hashOf = (text: string): Hash => `0x${createHash('sha256').update(text).digest('hex')}`
/** Unlike any other, on any fake chain. */
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
    blocks.push({ number, hash, parentHash, transfers: numberTransfers(placed) })
    return blocks.at(-1)!.transfers
  }
  append([])

  const inTransaction = (txHash: Hash, payments: FakePayment[]): LooseTransfer[] =>
    payments.map(({ symbol, to, value }) => {
      const token = settings.tokens.find((known) => known.symbol === symbol)!.address.toLowerCase() as Hex
      return { token, from: token, to: to.toLowerCase() as Hex, value, txHash }
    })
  const showBlock = (block: FakeBlock | undefined): Block | undefined =>
    block && { number: block.number, hash: block.hash, parentHash: block.parentHash }
  const answer = async <T>(value: () => T): Promise<T> => {
    fake.beforeCall(++fake.calls)
    if (fake.calls >= fake.failFrom) throw new ChainUnavailableError('The fake chain is down')
    return value()
  }
  const head = () => blocks.length - 1
  const receiptOf = (txHash: Hash): TransferReceipt | undefined => {
    const block = blocks.find(({ transfers }) => transfers.some((transfer) => transfer.txHash === txHash))
    if (!block) return undefined
    const transfers = block.transfers.filter((transfer) => transfer.txHash === txHash)
    return { succeeded: true, block: { number: block.number, hash: block.hash }, transfers }
  }

  const fake: FakeChain = {
    distance: { safe: 10, finalized: 20 },
    witnesses: (receipt) => [receipt, receipt],
    shown: (transfers) => transfers,
    calls: 0,
    failFrom: Number.POSITIVE_INFINITY,
    beforeCall: () => {},
    port: {
      chainId: settings.chainId,
      network: settings.network,
      block: (which) =>
        answer(() => {
          if (typeof which === 'number') return showBlock(blocks[which])
          const behind = which === 'latest' ? 0 : fake.distance[which]
          return showBlock(blocks[Math.max(0, head() - behind)])
        }),
      transfers: (from, to) =>
        answer(() => {
          if (to > head()) throw new ChainUnavailableError('The fake chain lags')
          return fake.shown(blocks.slice(from, to + 1).flatMap((block) => block.transfers))
        }),
      receipt: (txHash) => answer(() => receiptOf(txHash)),
      nodes: 2,
      receipts: (txHash) => answer(() => fake.witnesses(receiptOf(txHash))),
    },
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
