import { type Address, createPublicClient, type Hex, http, type PublicClient, parseAbi } from 'viem'
import type { ChainSettings } from '../../chain/chain-settings.ts'
import { RefusedError } from '../command.ts'

const TIMEOUT_MS = 20_000
/** Balances asked for in one call: it has to fit the 48 KiB that code which is only run may have (EIP-3860). */
const BALANCES_AT_ONCE = 150
/** Addresses whose coin is asked for at the same time. */
const COINS_AT_ONCE = 20
const balanceOf = parseAbi(['function balanceOf(address) view returns (uint256)'])

/** The balance of one token at one address. */
export interface Holding {
  token: Address
  owner: Address
}

/** The state of a chain at a block, as two of its endpoints show it, or its only endpoint. */
export interface AgreedState {
  /** In the tokens' smallest units, in the order of the question. */
  tokens(holdings: Holding[]): Promise<bigint[]>
  /** The chain's own coin in wei, in the order of the question. */
  coins(owners: Address[]): Promise<bigint[]>
  code(address: Address): Promise<Hex | undefined>
}

/**
 * @param block the newest where it is left out
 * @param onProgress told how many balances were read
 */
export function agreedState(
  settings: ChainSettings,
  block?: number,
  onProgress: (read: number, of: number) => void = () => {},
): AgreedState {
  const clients = settings.rpcUrls.map((url) =>
    createPublicClient({ transport: http(url, { timeout: TIMEOUT_MS, retryCount: 2 }) }),
  )
  const at = block === undefined ? {} : { blockNumber: BigInt(block) }

  async function agreed<T>(question: (client: PublicClient) => Promise<T>): Promise<T> {
    const answers = await Promise.allSettled(clients.map(question))
    const enough = Math.min(2, clients.length)
    const given = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    const found = given.find((one) => given.filter((other) => isSame(one, other)).length >= enough)
    if (found !== undefined || given.filter((one) => one === undefined).length >= enough) return found as T
    const reasons = answers.map((answer, index) => {
      const host = new URL(settings.rpcUrls[index]!).host
      return `${host} ${answer.status === 'rejected' ? `fails: ${firstLine(answer.reason)}` : 'says something else'}`
    })
    throw new RefusedError(
      `No two endpoints of ${settings.network} show the same state: ${reasons.join('; ')}`,
    )
  }

  return {
    async tokens(holdings) {
      const balances: bigint[] = []
      for (let from = 0; from < holdings.length; from += BALANCES_AT_ONCE) {
        const some = holdings.slice(from, from + BALANCES_AT_ONCE)
        const contracts = some.map(({ token, owner }) => ({
          abi: balanceOf,
          address: token,
          functionName: 'balanceOf' as const,
          args: [owner] as const,
        }))
        const call = { contracts, allowFailure: false, deployless: true, batchSize: 0, ...at } as const
        balances.push(...(await agreed((client) => client.multicall(call))))
        onProgress(balances.length, holdings.length)
      }
      return balances
    },
    async coins(owners) {
      const balances: bigint[] = []
      for (let from = 0; from < owners.length; from += COINS_AT_ONCE) {
        const some = owners.slice(from, from + COINS_AT_ONCE)
        const read = (client: PublicClient) =>
          Promise.all(some.map((address) => client.getBalance({ address, ...at })))
        balances.push(...(await agreed(read)))
      }
      return balances
    },
    code: (address) => agreed((client) => client.getCode({ address, ...at })),
  }
}

const isSame = (one: unknown, other: unknown) => one !== undefined && textOf(one) === textOf(other)
const textOf = (value: unknown) =>
  JSON.stringify(value, (_key, part) => (typeof part === 'bigint' ? String(part) : part))
const firstLine = (error: unknown) => String((error as Error).message).split('\n')[0]
