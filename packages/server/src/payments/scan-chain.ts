import type { Chain, TransferLog } from '../chain/chain-port.ts'
import { inTransaction } from '../database/transaction.ts'
import type { Services } from '../services.ts'
import { moveCursor } from './chain-cursor-store.ts'
import type { KnownAddresses } from './deposit-address-store.ts'
import { recordTransfer } from './record-transfer.ts'

/** Blocks asked for at once. */
const RANGE = 500
/** Micro-dollars. Nobody pays a billion dollars: such a log is a token gone wrong. */
const LARGEST = 1_000_000_000_000_000n

/** Writes down the deposits in all blocks after `scanned` up to the head; what it got through is kept at any stop. */
export async function scanChain(
  services: Services,
  chain: Chain,
  addresses: KnownAddresses,
  { scanned, head }: { scanned: number; head: number },
): Promise<void> {
  await addresses.refresh()
  for (let from = scanned + 1; from <= head; from += RANGE) {
    const to = Math.min(from + RANGE - 1, head)
    // The hash is read first: were the chain to change under the logs, the next look finds another hash and goes back.
    const last = await chain.port.block(to)
    if (!last) return
    const transfers = await chain.port.transfers(from, to)
    const ours = transfers.flatMap((transfer) => {
      const address = addresses.find(transfer.to)
      return address && isPlausible(services, transfer) ? [{ transfer, address }] : []
    })
    await inTransaction(services.db, async (tx) => {
      for (const { transfer, address } of ours) await recordTransfer(tx, services, chain, transfer, address)
      await moveCursor(tx, chain.settings.chainId, last)
    })
  }
}

/** Transfers of nothing are spam. */
function isPlausible(services: Services, transfer: TransferLog): boolean {
  if (transfer.value > LARGEST)
    services.log.error({ transfer: transfer.txHash }, 'A deposit is too large to be one')
  return transfer.value > 0n && transfer.value <= LARGEST
}
