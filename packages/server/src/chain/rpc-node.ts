import {
  createPublicClient,
  encodeFunctionData,
  type Hash,
  type Hex,
  hexToBigInt,
  hexToNumber,
  http,
  numberToHex,
  type PublicClient,
  pad,
  parseAbi,
  RpcRequestError,
} from 'viem'
import {
  type Block,
  type ChainNode,
  NodeLagsError,
  type TransferLog,
  type TransferReceipt,
} from './chain-port.ts'
import type { ChainSettings } from './chain-settings.ts'
import { numberTransfers } from './number-transfers.ts'
import { refusesToPay } from './refuses-to-pay.ts'

/** keccak256 of `Transfer(address,address,uint256)`. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** An account with a key that lets this code act for it (EIP-7702). */
const DELEGATED = '0xef0100'
const ERC_1271 = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
/** What a contract answers that takes a signature for its own. */
const APPROVED = '0x1626ba7e'
const LARGEST_RESPONSE = 100 * 1024 * 1024
const TIMEOUT_MS = 5_000
/** Logs of many blocks take longer to find. */
const LOGS_TIMEOUT_MS = 20_000

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

/** An endpoint answered what no node of this chain answers. */
class WrongAnswerError extends Error {
  override name = 'WrongAnswerError'
}

/**
 * One endpoint that speaks Ethereum's JSON-RPC. Its answers are taken apart with care: what is malformed, of another
 * chain or of blocks that were not asked for is an error, and a log that is shown twice is one.
 */
export function rpcNode({ chainId, tokens, demo }: ChainSettings, url: string): ChainNode {
  const accepted = tokens.map((token) => token.address)
  const isAccepted = new Set(accepted.map((address) => address.toLowerCase()))
  const connect = (timeout: number) =>
    createPublicClient({
      transport: http(url, { timeout, retryCount: 0, maxResponseBodySize: LARGEST_RESPONSE }),
    })
  const node = connect(TIMEOUT_MS)
  const searcher = connect(LOGS_TIMEOUT_MS)
  /** Asked once: an endpoint that was away when the service started was not checked then. */
  let proven: Promise<void> | undefined

  /** @throws WrongAnswerError when it is one of another chain */
  async function prove(): Promise<void> {
    proven ??= checkChainId().catch((error) => {
      proven = undefined
      throw error
    })
    await proven
  }

  async function checkChainId(): Promise<void> {
    const answered = await node.getChainId()
    if (answered !== chainId) throw new WrongAnswerError(`it is an endpoint of chain ${answered}`)
  }

  async function logsOf(
    client: PublicClient,
    fromBlock: number,
    toBlock: number,
    to?: Hex,
  ): Promise<RawLog[]> {
    try {
      return (await client.request({
        method: 'eth_getLogs',
        params: [
          {
            address: accepted,
            topics: to ? [TRANSFER, null, pad(to)] : [TRANSFER],
            fromBlock: numberToHex(fromBlock),
            toBlock: numberToHex(toBlock),
          },
        ],
      })) as RawLog[]
    } catch (error) {
      if (fromBlock === toBlock || !isTooMuch(error as Error)) throw error
      const middle = Math.floor((fromBlock + toBlock) / 2)
      const before = await logsOf(client, fromBlock, middle, to)
      return before.concat(await logsOf(client, middle + 1, toBlock, to))
    }
  }

  const transfersIn = (logs: RawLog[]): TransferLog[] =>
    numberTransfers(
      inOrder(logs.filter(isTransfer).map(readTransfer)).filter(({ token }) => isAccepted.has(token)),
    )

  return {
    name: new URL(url).host,

    async block(which) {
      await prove()
      const isTag = typeof which !== 'number'
      const answer = await node
        .request({
          method: 'eth_getBlockByNumber',
          params: [isTag ? which : numberToHex(which), false],
        })
        .catch((error: Error) => {
          // Where nothing is safe or finalized yet, some nodes answer with an error.
          if (isTag && which !== 'latest' && isAnswer(error)) return null
          throw error
        })
      if (!answer) return undefined
      const block: Block = {
        number: hexToNumber(answer.number!),
        hash: wordOf(answer.hash!),
        parentHash: wordOf(answer.parentHash),
        timestamp: hexToNumber(answer.timestamp),
      }
      if (!isTag && block.number !== which) {
        throw new WrongAnswerError(`it was asked for block ${which} and showed ${block.number}`)
      }
      return block
    },

    async transfers(fromBlock, toBlock, to) {
      await prove()
      const head = hexToNumber(await node.request({ method: 'eth_blockNumber' }))
      if (head < toBlock) throw new NodeLagsError(`it is at block ${head}, before ${toBlock}`)
      const transfers = transfersIn(await logsOf(searcher, fromBlock, toBlock, to))
      const other = transfers.find(
        ({ blockNumber: at, to: of }) => at < fromBlock || at > toBlock || (to && of !== to),
      )
      if (!other) return transfers
      throw new WrongAnswerError(
        `it was asked for logs of blocks ${fromBlock} to ${toBlock} and showed one of ${other.blockNumber} to ${other.to}`,
      )
    },

    async receipt(txHash) {
      await prove()
      const answer = await node.request({ method: 'eth_getTransactionReceipt', params: [txHash] })
      if (!answer) return undefined
      if (answer.transactionHash !== txHash) throw new WrongAnswerError(`it showed another receipt`)
      const receipt: TransferReceipt = {
        succeeded: answer.status === '0x1',
        block: { number: hexToNumber(answer.blockNumber), hash: wordOf(answer.blockHash) },
        transfers: transfersIn(answer.logs as RawLog[]),
      }
      return receipt
    },

    async payee(token, payer, address) {
      await prove()
      const code = await node.getCode({ address })
      return {
        hasCode: code !== undefined && !code.startsWith(DELEGATED),
        isRefused: await refusesToPay(node, token, payer, address),
      }
    },

    async code(address) {
      await prove()
      const code = await node.request({ method: 'eth_getCode', params: [address, 'latest'] })
      return code === '0x' ? undefined : (code.toLowerCase() as Hex)
    },

    async approves(address, hash, signature) {
      await prove()
      const data = encodeFunctionData({ abi: ERC_1271, args: [hash, signature] })
      const answer = await node
        .request({ method: 'eth_call', params: [{ to: address, data }, 'latest'] })
        .catch((error: Error) => {
          // It reverts.
          if (isAnswer(error)) return '0x'
          throw error
        })
      return answer.startsWith(APPROVED)
    },

    ...(demo && {
      async mine() {
        await node.request({ method: 'evm_mine' as never })
      },
    }),
  }
}

/** Whether the endpoint itself gave this error for an answer, so that it is there. */
const isAnswer = (error: Error): boolean =>
  'walk' in error &&
  typeof error.walk === 'function' &&
  error.walk((cause: unknown) => cause instanceof RpcRequestError) !== null

/** Whether fewer blocks may be answered: not so when there was no answer at all, or too many questions were asked. */
const isTooMuch = (error: Error): boolean =>
  (isAnswer(error) && !/rate|too many requests/i.test(error.message)) ||
  /response (body )?size|exceeds? .*size/i.test(error.message)

const isTransfer = ({ topics, removed }: RawLog) => topics[0] === TRANSFER && topics.length === 3 && !removed

function readTransfer(log: RawLog): Omit<TransferLog, 'ordinal'> {
  return {
    token: addressOf(log.address),
    from: addressOf(`0x${wordOf(log.topics[1]!).slice(26)}`),
    to: addressOf(`0x${wordOf(log.topics[2]!).slice(26)}`),
    value: hexToBigInt(wordOf(log.data)),
    txHash: wordOf(log.transactionHash),
    logIndex: hexToNumber(log.logIndex),
    blockNumber: hexToNumber(log.blockNumber),
    blockHash: wordOf(log.blockHash),
  }
}

/** By their place in the chain, each once. */
function inOrder(transfers: Omit<TransferLog, 'ordinal'>[]): Omit<TransferLog, 'ordinal'>[] {
  const places = new Map(transfers.map((log) => [`${log.blockHash} ${log.logIndex}`, log]))
  return [...places.values()].sort(
    (one, other) => one.blockNumber - other.blockNumber || one.logIndex - other.logIndex,
  )
}

function wordOf(text: string): Hex {
  if (!/^0x[0-9a-f]{64}$/i.test(text)) throw new WrongAnswerError('it showed something that is no 32 bytes')
  return text.toLowerCase() as Hex
}

function addressOf(text: string): Hex {
  if (!/^0x[0-9a-f]{40}$/i.test(text)) throw new WrongAnswerError('it showed something that is no address')
  return text.toLowerCase() as Hex
}
