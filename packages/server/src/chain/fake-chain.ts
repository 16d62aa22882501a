import { createHash } from 'node:crypto'
import type { Hash, Hex } from 'viem'
import type { BlockRef, ChainPort, TransferLog, TransferReceipt } from './chain-port.ts'
import type { ChainSettings, TokenSymbol } from './chain-settings.ts'
import { ChainUnavailableError } from './viem-chain.ts'

interface FakeBlock extends BlockRef {
  transfers: TransferLog[]
}

/** A chain for tests, scripted: for what a real node cannot be made to do at will. */
export interface FakeChain {
  port: ChainPort
  /** Makes a block with a transfer in it. */
  pay(symbol: TokenSymbol, to: string, value: bigint): TransferLog
  /** Makes empty blocks. */
  grow(blocks: number): void
  /** Replaces the newest blocks by one empty block more; their transfers come back in the first of them, or never. */
  reorganise(depth: number, transfers: 'kept' | 'dropped'): void
  /** How far behind the head the chain's promises are. */
  distance: { safe: number; finalized: number }
  /** The receipts of those of its two nodes that answer, made from the true one. */
  witnesses(receipt: TransferReceipt | undefined): (TransferReceipt | undefined)[]
  /** Calls to the chain until now. */
  calls: number
  /** Fails every call from this one on. */
  failFrom: number
}

let made = 0
const hashOf = (text: string): Hash => `0x${createHash('sha256').update(text).digest('hex')}`
/** Unlike any other, on any fake chain. */
const newHash = () => hashOf(String(made++))

export function fakeChain(settings: ChainSettings): FakeChain {
  const blocks: FakeBlock[] = []
  const append = (transfers: Omit<TransferLog, 'blockNumber' | 'blockHash' | 'logIndex'>[]) => {
    const number = blocks.length
    const block: BlockRef = {
      number,
      hash: number === 0 ? hashOf(`genesis of ${settings.chainId}`) : newHash(),
    }
    const placed = transfers.map((transfer, logIndex) => ({
      ...transfer,
      logIndex,
      blockNumber: block.number,
      blockHash: block.hash,
    }))
    blocks.push({ ...block, transfers: placed })
    return placed
  }
  append([])

  const refOf = (block: FakeBlock | undefined): BlockRef | undefined =>
    block && { number: block.number, hash: block.hash }
  const answer = async <T>(value: () => T): Promise<T> => {
    if (++fake.calls >= fake.failFrom) throw new ChainUnavailableError('The fake chain is down')
    return value()
  }
  const head = () => blocks.length - 1
  const receiptOf = (txHash: Hash): TransferReceipt | undefined => {
    const block = blocks.find(({ transfers }) => transfers.some((transfer) => transfer.txHash === txHash))
    if (!block) return undefined
    const transfers = block.transfers.filter((transfer) => transfer.txHash === txHash)
    return { succeeded: true, block: refOf(block)!, transfers }
  }

  const fake: FakeChain = {
    distance: { safe: 10, finalized: 20 },
    witnesses: (receipt) => [receipt, receipt],
    calls: 0,
    failFrom: Number.POSITIVE_INFINITY,
    port: {
      chainId: settings.chainId,
      network: settings.network,
      block: (which) =>
        answer(() => {
          if (typeof which === 'number') return refOf(blocks[which])
          const behind = which === 'latest' ? 0 : fake.distance[which]
          return refOf(blocks[Math.max(0, head() - behind)])
        }),
      transfers: (from, to) =>
        answer(() => {
          if (to > head()) throw new ChainUnavailableError('The fake chain lags')
          return blocks.slice(from, to + 1).flatMap((block) => block.transfers)
        }),
      receipt: (txHash) => answer(() => receiptOf(txHash)),
      nodes: 2,
      receipts: (txHash) => answer(() => fake.witnesses(receiptOf(txHash))),
    },
    pay(symbol, to, value) {
      const token = settings.tokens.find((known) => known.symbol === symbol)!.address.toLowerCase() as Hex
      return append([{ token, from: token, to: to.toLowerCase() as Hex, value, txHash: newHash() }])[0]!
    },
    grow(count) {
      for (let index = 0; index < count; index++) append([])
    },
    reorganise(depth, transfers) {
      const dropped = blocks.splice(-depth)
      append(transfers === 'kept' ? dropped.flatMap((block) => block.transfers) : [])
      fake.grow(depth)
    },
  }
  return fake
}
