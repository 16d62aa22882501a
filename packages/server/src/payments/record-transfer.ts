import type { Chain, TransferLog } from '../chain/chain-port.ts'
import { announce } from '../database/changes.ts'
import type { Transaction } from '../database/transaction.ts'
import type { Services } from '../platform/services.ts'
import { ensureDoorAddress } from './deposit-address-store.ts'
import { type DepositTo, recordDeposit } from './deposit-store.ts'
import type { OurTransfer } from './our-transfers.ts'

/** Stores a transfer to one of our addresses; at an address without an account, for the account of the paying wallet. */
export async function recordOurTransfer(
  tx: Transaction,
  services: Services,
  chain: Chain,
  { transfer, address, payer }: OurTransfer,
): Promise<void> {
  let { account_id: accountId } = address
  if (accountId === null) {
    await ensureDoorAddress(tx, services)
    accountId = await services.walletAccounts.ensure(tx, services, payer!)
  }
  await recordTransfer(tx, services, chain, transfer, { ...address, account_id: accountId })
}

/** Stores a transfer to one of our addresses and notifies the calls that wait for it. */
export async function recordTransfer(
  tx: Transaction,
  services: Services,
  { settings }: Chain,
  transfer: TransferLog,
  to: DepositTo,
): Promise<void> {
  const token = settings.tokens.find((known) => known.address.toLowerCase() === transfer.token)
  if (!token) return
  const recorded = await recordDeposit(tx, transfer, to, {
    id: services.newId('deposit'),
    chainId: settings.chainId,
    token: token.symbol,
    at: services.clock.now(),
  })
  if (!recorded) return
  if (recorded.invoice_id) await announce(tx, recorded.invoice_id)
  await announce(tx, recorded.account_id)
}
