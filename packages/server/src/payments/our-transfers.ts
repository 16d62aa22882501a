import type { TransferLog } from '../chain/chain-port.ts'
import type { DepositAddress, KnownAddresses } from './deposit-address-store.ts'

/** Micro-dollars. Nobody pays a billion dollars: such a log is a token gone wrong. */
const LARGEST = 1_000_000_000_000_000n

/** The transfers to our addresses that can be payments. Those of nothing are spam. */
export const ourTransfers = (
  transfers: TransferLog[],
  addresses: KnownAddresses,
): { transfer: TransferLog; address: DepositAddress }[] =>
  transfers.flatMap((transfer) => {
    const address = addresses.find(transfer.to)
    const isPlausible = transfer.value > 0n && transfer.value <= LARGEST
    return address && isPlausible ? [{ transfer, address }] : []
  })
