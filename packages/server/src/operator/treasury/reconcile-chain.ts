import type { Address } from 'viem'
import type { ChainPort, TransferLog } from '../../chain/chain-port.ts'
import type { ChainSettings } from '../../chain/chain-settings.ts'
import { viemChain } from '../../chain/viem-chain.ts'
import { type Operator, RefusedError } from '../command.ts'
import { agreedState } from './agreed-state.ts'
import { compareBooks, type Difference, holdingKey, type TokenSums } from './compare-books.ts'
import { type Books, readBooks } from './read-books.ts'
import { readFlushes } from './read-flushes.ts'

/** How far the service may be behind the chain: these blocks are read here instead. */
const MOST_UNREAD = 5_000

export interface ReconciledChain {
  network: string
  /** The block at which all of it was read. */
  block: number
  sums: TokenSums[]
  differences: Difference[]
}

/**
 * Compares a chain with the books at one block.
 * @returns undefined for a chain that the service has never looked at
 * @throws RefusedError when no two endpoints show the same, or the service is far behind the chain
 */
export async function reconcileChain(
  operator: Operator,
  settings: ChainSettings,
): Promise<ReconciledChain | undefined> {
  const { chainId, network } = settings
  const port = viemChain(settings)
  const { number: block } = await port.newest()
  const books = await readBooks(operator, chainId, block)
  if (!books) return undefined
  if (block - books.scanned > MOST_UNREAD)
    throw new RefusedError(
      `The service has looked through ${network} up to block ${books.scanned} of ${block}: start it, and wait until it is through`,
    )

  const known = new Set(books.addresses.map(({ address }) => address))
  const isOurs = (address: string) => known.has(address)
  const first = Math.min(books.first ?? books.scanned + 1, books.scanned + 1)
  const leaving = await readFlushes(operator, { settings, port, isOurs }, { first, head: block })
  // Read again: what has become final meanwhile was written down.
  const { flushed } = (await readBooks(operator, chainId, block))!
  const arriving = await transfersTo(port, isOurs, books.scanned + 1, block)

  const tokens = tokensOf(settings, books)
  const state = agreedState(settings, block, (read, of) =>
    operator.say(`${network}: ${read} of ${of} balances read`),
  )
  const holdings = [...tokens.keys()].flatMap((token) =>
    books.addresses.map(({ address }) => ({ token: token as Address, owner: address as Address })),
  )
  const amounts = await state.tokens(holdings)
  const balances = new Map(
    holdings.map(({ token, owner }, index) => [holdingKey(owner, token), amounts[index]!]),
  )
  const inTreasury = await state.tokens(
    [...tokens.keys()].map((token) => ({ token: token as Address, owner: settings.treasury })),
  )
  const treasury = new Map([...tokens.keys()].map((token, index) => [token, inTreasury[index]!]))
  const seen = { tokens, balances, treasury, arriving, leaving }
  return { network, block, ...compareBooks({ ...books, flushed }, seen) }
}

/** The tokens of the settings, and those that were accepted before; by address in lower case. */
function tokensOf({ tokens }: ChainSettings, { received }: Books): Map<string, string> {
  return new Map([
    ...received.map(({ token, token_address }) => [token_address, token] as const),
    ...tokens.map(({ symbol, address }) => [address.toLowerCase(), symbol] as const),
  ])
}

async function transfersTo(
  port: ChainPort,
  isOurs: (address: string) => boolean,
  from: number,
  to: number,
): Promise<TransferLog[]> {
  if (from > to) return []
  const [reader] = port.readers()
  const transfers = await reader!.transfers(from, to, isOurs)
  return transfers.filter(({ value }) => value > 0n)
}
