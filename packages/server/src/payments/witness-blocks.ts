import type { Chain, TransferLog } from '../chain/chain-port.ts'
import { inTransaction } from '../database/transaction.ts'
import type { Services } from '../platform/services.ts'
import { moveWitnessed } from './chain-cursor-store.ts'
import type { KnownAddresses } from './deposit-address-store.ts'
import { ourTransfers } from './our-transfers.ts'
import { recordOurTransfer } from './record-transfer.ts'
import { MOST_BLOCKS } from './scan-chain.ts'

/** The number of blocks to wait for, so that few requests are made. */
const LEAST = 16
/** The most ranges that one look catches up on. */
const AT_ONCE = 20

/**
 * Reads final blocks once more, from two endpoints each, and stores transfers that a single one left out: otherwise an
 * endpoint that omits a log would deprive a customer of money without a trace. It waits while fewer than two answer.
 * @param from all blocks up to this one were read from two endpoints already
 * @param to the newest block that is final and has been scanned
 */
export async function witnessBlocks(
  services: Services,
  chain: Chain,
  addresses: KnownAddresses,
  { from, to }: { from: number; to: number },
): Promise<void> {
  if (to - from < LEAST) return
  let reached = from
  for (let range = 0; range < AT_ONCE && reached < to; range++) {
    const [first, last] = [reached + 1, Math.min(reached + MOST_BLOCKS, to)]
    const isOurs = (address: string) => addresses.find(address) !== undefined
    const shown = await readByTwo(chain, { from: first, to: last }, isOurs)
    if (!shown) return
    const ours = await ourTransfers(chain, shown, addresses)
    await inTransaction(services.db, async (tx) => {
      for (const each of ours) await recordOurTransfer(tx, services, chain, each)
      await moveWitnessed(tx, chain.settings.chainId, last)
    })
    reached = last
  }
}

/** All transfers to our addresses that two endpoints show in these blocks; undefined while fewer than two answer. */
async function readByTwo(
  { port }: Chain,
  { from, to }: { from: number; to: number },
  keeps: (address: string) => boolean,
): Promise<TransferLog[] | undefined> {
  const readings: TransferLog[][] = []
  for (const node of port.readers()) {
    const reading = await node.transfers(from, to, keeps).catch(() => undefined)
    if (reading) readings.push(reading)
    if (readings.length === 2) return readings.flat()
  }
  return undefined
}
