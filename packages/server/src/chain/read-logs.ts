import { type Address, numberToHex, pad } from 'viem'
import { resultElements } from './result-elements.ts'
import { TRANSFER } from './transfer-log.ts'
import { WrongAnswerError } from './wrong-answer.ts'

const LARGEST_RESPONSE = 100 * 1024 * 1024
/** How much of an HTTP error response is read: enough to tell what is wrong. */
const LARGEST_REFUSAL = 64 * 1024
/** An endpoint does not answer for this many blocks, but may for fewer. */
export class TooMuchError extends Error {
  override name = 'TooMuchError'
  /** Whether the endpoint said so, rather than taking too long. */
  readonly isSaid: boolean
  constructor(message: string, { isSaid }: { isSaid: boolean }) {
    super(message)
    this.isSaid = isSaid
  }
}

export interface LogsQuestion {
  tokens: Address[]
  /** Limits the logs to transfers to this recipient. */
  to?: Address | undefined
  fromBlock: number
  toBlock: number
  /** The timeout for the whole answer, in milliseconds. */
  timeoutMs: number
}

/**
 * Asks an endpoint for the Transfer logs of tokens in a range of blocks, both ends included.
 * @param take receives the raw logs while they arrive
 * @throws TooMuchError, WrongAnswerError, or a network error; logs that were taken before are then void
 */
export async function readLogs(
  url: string,
  { tokens, to, fromBlock, toBlock, timeoutMs }: LogsQuestion,
  take: (logs: unknown[]) => void,
): Promise<void> {
  const filter = {
    address: tokens,
    topics: to ? [TRANSFER, null, pad(to)] : [TRANSFER],
    fromBlock: numberToHex(fromBlock),
    toBlock: numberToHex(toBlock),
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [filter] })
  try {
    const response = await post(url, body, AbortSignal.timeout(timeoutMs))
    if (!response.ok) throw await refusalOf(response)
    const elements = resultElements(take)
    let size = 0
    for await (const chunk of response.body!) {
      size += chunk.length
      if (size > LARGEST_RESPONSE) throw new TooMuchError('its answer is too large', { isSaid: true })
      // Only an error message can contain non-ASCII characters, and `errorOf` decodes it again.
      elements.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1'))
    }
    const { result, error } = elements.end()
    if (error !== undefined && error !== null) throw errorOf(error)
    if (!Array.isArray(result)) throw new WrongAnswerError('it answered no list of logs')
  } catch (error) {
    if ((error as Error).name !== 'TimeoutError') throw error
    throw new TooMuchError(`it did not answer in ${timeoutMs / 1000} s`, { isSaid: false })
  }
}

/** Moves user and password from the URL to a header, since `fetch` refuses a URL with credentials. */
function post(url: string, body: string, signal: AbortSignal): Promise<Response> {
  const to = new URL(url)
  const headers = new Headers({ 'content-type': 'application/json' })
  if (to.username !== '') {
    const user = `${decodeURIComponent(to.username)}:${decodeURIComponent(to.password)}`
    headers.set('authorization', `Basic ${Buffer.from(user).toString('base64')}`)
    to.username = ''
    to.password = ''
  }
  return fetch(to, { method: 'POST', headers, body, signal })
}

/** The error of an unsuccessful HTTP response; some endpoints put a JSON-RPC error into one. */
async function refusalOf(response: Response): Promise<Error> {
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString('utf8')
    if (text.length > LARGEST_REFUSAL) break
  }
  const { status } = response
  if (status === 413) return new TooMuchError('its answer is too large', { isSaid: true })
  try {
    const { error } = JSON.parse(text)
    if (error && status !== 429) return errorOf(error)
  } catch {
    // Without a JSON body, only the status tells something.
  }
  return new Error(`it answered with status ${status}`)
}

/** Converts a JSON-RPC error: except for a rate limit, a request for fewer blocks may succeed. */
function errorOf(error: unknown): Error {
  const message = String((error as { message?: unknown }).message ?? '').slice(0, 300)
  const said = Buffer.from(message, 'latin1').toString('utf8')
  if (/rate|too many requests/i.test(said)) return new Error(`it said: ${said}`)
  return new TooMuchError(`it said: ${said}`, { isSaid: true })
}
