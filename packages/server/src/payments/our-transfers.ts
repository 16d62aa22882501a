import type { Chain, TransferLog } from '../chain/chain-port.ts'
import { payerAt } from '../chain/wallet-that-signed.ts'
import type { Wallet } from '../platform/slice-ports.ts'
import type { DepositAddress, KnownAddresses } from './deposit-address-store.ts'

/** micro-USD. A transfer of more than a billion dollars is no payment but a faulty token. */
const LARGEST = 1_000_000_000_000_000n

/** A transfer to one of our addresses. */
export interface OurTransfer {
  transfer: TransferLog
  address: DepositAddress
  /** The paying wallet, when the address belongs to no account. */
  payer: Wallet | undefined
}

/** The transfers to our addresses that can be payments. Transfers of a zero amount are spam. */
export const ourTransfers = async (
  chain: Chain,
  transfers: TransferLog[],
  addresses: KnownAddresses,
): Promise<OurTransfer[]> => {
  const ours: OurTransfer[] = []
  for (const transfer of transfers) {
    const address = addresses.find(transfer.to)
    if (!address || transfer.value <= 0n || transfer.value > LARGEST) continue
    const payer = address.account_id === null ? await payerAt(chain, transfer.from) : undefined
    ours.push({ transfer, address, payer })
  }
  return ours
}
