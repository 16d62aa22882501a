import type { Hex } from 'viem'
import type { TransferLog } from './chain-port.ts'
import { WrongAnswerError } from './wrong-answer.ts'

/** keccak256 of `Transfer(address,address,uint256)`. */
export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

const WORD = /^0x[0-9a-f]{64}$/i
const ADDRESS = /^0x[0-9a-f]{40}$/i
/** A quantity below 2^52. */
const QUANTITY = /^0x[0-9a-f]{1,13}$/i

/** An unvalidated log as it arrives on the wire. */
interface RawLog {
  address: unknown
  topics: unknown
  data: unknown
  transactionHash: unknown
  logIndex: unknown
  blockNumber: unknown
  blockHash: unknown
  removed?: unknown
}

/**
 * Parses one raw log. All of its fields have to be valid, even when it is not kept.
 * @param isKept decides by the token and the recipient, in lower case
 * @returns undefined when it is no transfer, or is not kept
 * @throws WrongAnswerError
 */
export function readTransfer(
  raw: unknown,
  isKept: (token: Hex, to: Hex) => boolean,
  checkBlock?: (number: number) => void,
): Transfer | undefined {
  const log = raw as RawLog
  const topics = log?.topics
  if (!Array.isArray(topics)) throw new WrongAnswerError('it showed something that is no log')
  if (topics[0] !== TRANSFER || topics.length !== 3 || log.removed === true) return undefined
  const blockNumber = quantityOf(log.blockNumber)
  const logIndex = quantityOf(log.logIndex)
  checkBlock?.(blockNumber)
  const [from, to] = [addressIn(topics[1]), addressIn(topics[2])]
  const [data, txHash, blockHash] = [
    checkWord(log.data),
    checkWord(log.transactionHash),
    checkWord(log.blockHash),
  ]
  const token = addressOf(log.address)
  if (!isKept(token, to)) return undefined
  return {
    token,
    from,
    to,
    value: BigInt(data),
    txHash: txHash.toLowerCase() as Hex,
    logIndex,
    blockNumber,
    blockHash: blockHash.toLowerCase() as Hex,
  }
}

type Transfer = Omit<TransferLog, 'ordinal'>

/** Sorts the transfers in place by their position in the chain, and keeps the last one shown at each position. */
export const inOrder = (transfers: Transfer[]): Transfer[] =>
  transfers.sort(byPlace).filter((transfer, index, sorted) => {
    const next = sorted[index + 1]
    return next === undefined || byPlace(transfer, next) !== 0
  })

const byPlace = (one: Transfer, other: Transfer): number =>
  one.blockNumber - other.blockNumber ||
  one.logIndex - other.logIndex ||
  (one.blockHash === other.blockHash ? 0 : one.blockHash < other.blockHash ? -1 : 1)

/** @throws WrongAnswerError unless the text is 32 bytes in hexadecimal digits */
export const wordOf = (text: unknown): Hex => checkWord(text).toLowerCase() as Hex

function checkWord(text: unknown): string {
  if (typeof text !== 'string' || !WORD.test(text))
    throw new WrongAnswerError('it showed something that is no 32 bytes')
  return text
}

function addressOf(text: unknown): Hex {
  if (typeof text !== 'string' || !ADDRESS.test(text))
    throw new WrongAnswerError('it showed something that is no address')
  return text.toLowerCase() as Hex
}

function addressIn(word: unknown): Hex {
  if (typeof word !== 'string' || !WORD.test(word))
    throw new WrongAnswerError('it showed something that is no 32 bytes')
  return `0x${word.slice(26).toLowerCase()}`
}

function quantityOf(text: unknown): number {
  if (typeof text !== 'string' || !QUANTITY.test(text))
    throw new WrongAnswerError('it showed something that is no number')
  return Number(text)
}
