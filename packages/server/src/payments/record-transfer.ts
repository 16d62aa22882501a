import type { Chain, TransferLog } from '../chain/chain-port.ts'
import { announce } from '../database/changes.ts'
import type { Transaction } from '../database/transaction.ts'
import type { Services } from '../services.ts'
import { type DepositTo, recordDeposit } from './deposit-store.ts'

/** Writes down a transfer to one of our addresses, and tells whoever waits for it. */
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
