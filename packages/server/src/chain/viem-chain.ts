import {
  createPublicClient,
  type Hash,
  type Hex,
  hexToNumber,
  http,
  numberToHex,
  type PublicClient,
} from 'viem'
import type { ChainPort, TransferLog, TransferReceipt } from './chain-port.ts'
import type { ChainSettings } from './chain-settings.ts'
import { numberTransfers } from './number-transfers.ts'

/** keccak256 of `Transfer(address,address,uint256)`. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const LARGEST_RESPONSE = 100 * 1024 * 1024
const TIMEOUT_MS = 10_000

interface RawLog {
  address: Hex
  topics: Hex[]
  data: Hex
  transactionHash: Hash
  logIndex: Hex
  blockNumber: Hex
  blockHash: Hash
  removed?: boolean
}

/** No endpoint of a chain gave a usable answer. */
export class ChainUnavailableError extends Error {
  override name = 'ChainUnavailableError'
}

/** A chain seen through JSON-RPC nodes: each question goes to the first one that can answer it. */
export function viemChain(settings: ChainSettings): ChainPort {
  const { chainId, network } = settings
  const accepted = settings.tokens.map((token) => token.address)
  const isAccepted = new Set(accepted.map((address) => address.toLowerCase()))
  const nodes = settings.rpcUrls.map((url) =>
    createPublicClient({
      transport: http(url, { timeout: TIMEOUT_MS, retryCount: 1, maxResponseBodySize: LARGEST_RESPONSE }),
    }),
  )

  async function ask<T>(question: (node: PublicClient) => Promise<T>): Promise<T> {
    const failures: Error[] = []
    for (const node of nodes) {
      try {
        return await question(node)
      } catch (error) {
        failures.push(error as Error)
      }
    }
    const reasons = failures.map((failure) => failure.message.split('\n')[0]).join('; ')
    throw new ChainUnavailableError(`No node of ${network} answers: ${reasons}`, { cause: failures[0] })
  }

  async function transfersOf(node: PublicClient, fromBlock: number, toBlock: number): Promise<RawLog[]> {
    try {
      return (await node.request({
        method: 'eth_getLogs',
        params: [
          {
            address: accepted,
            topics: [TRANSFER],
            fromBlock: numberToHex(fromBlock),
            toBlock: numberToHex(toBlock),
          },
        ],
      })) as RawLog[]
    } catch (error) {
      if (fromBlock === toBlock) throw error
      const middle = Math.floor((fromBlock + toBlock) / 2)
      const before = await transfersOf(node, fromBlock, middle)
      return before.concat(await transfersOf(node, middle + 1, toBlock))
    }
  }

  async function receiptOf(node: PublicClient, txHash: Hash): Promise<TransferReceipt | undefined> {
    const answer = await node.request({ method: 'eth_getTransactionReceipt', params: [txHash] })
    if (!answer) return undefined
    const logs = (answer.logs as RawLog[]).filter(
      (log) => isTransfer(log) && isAccepted.has(log.address.toLowerCase()),
    )
    return {
      succeeded: answer.status === '0x1',
      block: { number: hexToNumber(answer.blockNumber), hash: answer.blockHash },
      transfers: numberTransfers(logs.map(readTransfer)),
    }
  }

  return {
    chainId,
    network,

    block: (which) =>
      ask(async (node) => {
        const answer = await node.request({
          method: 'eth_getBlockByNumber',
          params: [typeof which === 'number' ? numberToHex(which) : which, false],
        })
        if (!answer) return undefined
        return { number: hexToNumber(answer.number!), hash: answer.hash!, parentHash: answer.parentHash }
      }),

    transfers: (fromBlock, toBlock) =>
      ask(async (node) => {
        const head = hexToNumber(await node.request({ method: 'eth_blockNumber' }))
        if (head < toBlock) throw new Error(`The node is at block ${head}, before ${toBlock}`)
        const logs = await transfersOf(node, fromBlock, toBlock)
        return numberTransfers(logs.filter(isTransfer).map(readTransfer))
      }),

    receipt: (txHash) => ask((node) => receiptOf(node, txHash)),

    nodes: nodes.length,
    receipts: async (txHash) => {
      const answers = await Promise.allSettled(nodes.map((node) => receiptOf(node, txHash)))
      return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    },

    ...(settings.demo && {
      mine: () => ask(async (node) => void (await node.request({ method: 'evm_mine' as never }))),
    }),
  }
}

const isTransfer = ({ topics, removed }: RawLog) => topics[0] === TRANSFER && topics.length === 3 && !removed

function readTransfer(log: RawLog): Omit<TransferLog, 'ordinal'> {
  return {
    token: log.address.toLowerCase() as Hex,
    from: addressOfTopic(log.topics[1]!),
    to: addressOfTopic(log.topics[2]!),
    value: BigInt(log.data),
    txHash: log.transactionHash,
    logIndex: hexToNumber(log.logIndex),
    blockNumber: hexToNumber(log.blockNumber),
    blockHash: log.blockHash,
  }
}

const addressOfTopic = (topic: Hex) => `0x${topic.slice(26).toLowerCase()}` as Hex
