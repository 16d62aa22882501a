import {
  createPublicClient,
  encodeFunctionData,
  type Hex,
  hexToNumber,
  http,
  numberToHex,
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
import { rangeSize } from './range-size.ts'
import { readLogs, TooMuchError } from './read-logs.ts'
import { refusesToPay } from './refuses-to-pay.ts'
import { inOrder, readTransfer, wordOf } from './transfer-log.ts'
import { WrongAnswerError } from './wrong-answer.ts'

/** The code prefix of an account with a key that delegates to a contract (EIP-7702). */
const DELEGATED = '0xef0100'
const ERC_1271 = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
/** The answer of a contract that accepts a signature as its own. */
const APPROVED = '0x1626ba7e'
const TIMEOUT_MS = 5_000
/** Logs of many blocks take long to find and to send. */
const LOGS_TIMEOUT_MS = 20_000
/** The most blocks whose logs are requested at once, if the endpoint allows it. */
const MOST_BLOCKS = 1_000

/**
 * One endpoint that speaks Ethereum's JSON-RPC. Its answers are validated: one that is malformed, of another chain or
 * about blocks that were not requested is an error, and a log that is shown twice counts once.
 */
export function rpcNode(
  { chainId, tokens, demo }: Pick<ChainSettings, 'chainId' | 'tokens' | 'demo'>,
  url: string,
  { logsTimeoutMs = LOGS_TIMEOUT_MS } = {},
): ChainNode {
  const accepted = tokens.map((token) => token.address)
  const isAccepted = new Set(accepted.map((address) => address.toLowerCase()))
  const isAcceptedToken = (token: string) => isAccepted.has(token)
  const node = createPublicClient({ transport: http(url, { timeout: TIMEOUT_MS, retryCount: 0 }) })
  const size = rangeSize(MOST_BLOCKS)
  /** The chain id is checked once here: an endpoint that was away when the service started was not checked then. */
  let proven: Promise<void> | undefined

  /** @throws WrongAnswerError when the endpoint belongs to another chain */
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

  /** The kept transfers in these blocks, in any order. */
  async function read(
    fromBlock: number,
    toBlock: number,
    isKept: (token: Hex, to: Hex) => boolean,
    to?: Hex,
  ): Promise<Omit<TransferLog, 'ordinal'>[]> {
    const checkBlock = (number: number) => {
      if (number >= fromBlock && number <= toBlock) return
      throw new WrongAnswerError(
        `it was asked for logs of blocks ${fromBlock} to ${toBlock} and showed one of ${number}`,
      )
    }
    const found: Omit<TransferLog, 'ordinal'>[] = []
    await readLogs(url, { tokens: accepted, to, fromBlock, toBlock, timeoutMs: logsTimeoutMs }, (logs) => {
      for (const log of logs) {
        const transfer = readTransfer(log, isKept, checkBlock)
        if (transfer) found.push(transfer)
      }
    })
    return found
  }

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
          // While no block is safe or finalized yet, some nodes answer with an error.
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

    async transfers(fromBlock, toBlock, keeps = () => true, to = undefined) {
      await prove()
      const head = hexToNumber(await node.request({ method: 'eth_blockNumber' }))
      if (head < toBlock) throw new NodeLagsError(`it is at block ${head}, before ${toBlock}`)
      const isKept = (token: Hex, payee: Hex) =>
        isAccepted.has(token) && keeps(payee) && (to === undefined || payee === to)
      const parts: Omit<TransferLog, 'ordinal'>[][] = []
      for (let next = fromBlock; next <= toBlock; ) {
        const last = Math.min(next + size.blocks - 1, toBlock)
        const blocks = last - next + 1
        try {
          parts.push(await read(next, last, isKept, to))
          size.answered(blocks)
          next = last + 1
        } catch (error) {
          const isFewer = error instanceof TooMuchError && size.refused(blocks)
          // After a timeout the caller should try another endpoint before a smaller range.
          if (!isFewer || !error.isSaid) throw error
        }
      }
      return numberTransfers(inOrder(parts.flat()))
    },

    async receipt(txHash) {
      await prove()
      const answer = await node.request({ method: 'eth_getTransactionReceipt', params: [txHash] })
      if (!answer) return undefined
      if (answer.transactionHash !== txHash) throw new WrongAnswerError(`it showed another receipt`)
      const receipt: TransferReceipt = {
        succeeded: answer.status === '0x1',
        block: { number: hexToNumber(answer.blockNumber), hash: wordOf(answer.blockHash) },
        transfers: numberTransfers(
          inOrder(answer.logs.flatMap((log) => readTransfer(log, isAcceptedToken) ?? [])),
        ),
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
          // The contract reverted.
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

/** Whether the endpoint itself answered with this error, so that it is reachable. */
const isAnswer = (error: Error): boolean =>
  'walk' in error &&
  typeof error.walk === 'function' &&
  error.walk((cause: unknown) => cause instanceof RpcRequestError) !== null
