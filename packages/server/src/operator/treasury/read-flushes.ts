import type { Hex } from 'viem'
import type { ChainPort, TransferLog } from '../../chain/chain-port.ts'
import type { ChainSettings } from '../../chain/chain-settings.ts'
import { inTransaction } from '../../database/transaction.ts'
import { type Operator, RefusedError } from '../command.ts'
import { flushesRead, keepFlushes, type ReadBlocks } from './flush-store.ts'

/** Blocks asked for at once; an endpoint that this is too much for is asked for fewer. */
const RANGE = 5_000

/**
 * Reads what deposit addresses have paid to the treasury. What is in final blocks is written down, so that it is read once.
 * @param first the first block that any of them can be in
 * @returns those in blocks that are not final, up to the head
 * @throws RefusedError when two endpoints do not show the same
 */
export async function readFlushes(
  operator: Operator,
  { settings, port, isOurs }: { settings: ChainSettings; port: ChainPort; isOurs(address: string): boolean },
  { first, head }: { first: number; head: number },
): Promise<TransferLog[]> {
  const db = await operator.db()
  const { chainId, network } = settings
  const treasury = settings.treasury.toLowerCase() as Hex
  const read = async (from: number, to: number) => {
    const answers = (await port.askAll((node) => node.transfers(from, to, undefined, treasury))).flatMap(
      (given) => (given ? [given.answer.filter((transfer) => isOurs(transfer.from))] : []),
    )
    const enough = Math.min(2, settings.rpcUrls.length)
    const agreed = answers.find(
      (one) => answers.filter((other) => namesOf(one) === namesOf(other)).length >= enough,
    )
    if (agreed) return agreed
    throw new RefusedError(
      `No two endpoints of ${network} show the same transfers to the treasury in blocks ${from} to ${to}`,
    )
  }

  const final = Math.min((await port.promised('finalized')) ?? 0, head)
  let known = await flushesRead(db, chainId)
  // A rescan has found payments that are older than what was read.
  if (!known || first < known.from) known = { from: first, to: first - 1 }
  while (known.to < final) {
    const to: number = Math.min(known.to + RANGE, final)
    const flushes = await read(known.to + 1, to)
    const upTo: ReadBlocks = { from: known.from, to }
    await inTransaction(db, (tx) => keepFlushes(tx, chainId, flushes, upTo))
    known = upTo
    operator.say(`${network}: transfers to the treasury read up to block ${to} of ${head}`)
  }
  return known.to < head ? read(known.to + 1, head) : []
}

/** The names that tell these transfers from any others. */
const namesOf = (transfers: TransferLog[]) =>
  transfers
    .map(({ txHash, token, from, value, ordinal }) => [txHash, token, from, value, ordinal].join(' '))
    .join('\n')
