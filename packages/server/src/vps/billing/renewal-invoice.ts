import { graceEnd } from '@coinrack/money/index.ts'
import type { Transaction } from '../../database/transaction.ts'
import type { Services } from '../../platform/services.ts'
import type { InvoiceView } from '../../platform/slice-ports.ts'
import type { VpsRow } from '../machine/vps-store.ts'
import { cyclePrice } from './cycle-price.ts'

/**
 * The unpaid invoice of months more of a VPS, paid at an address of its own; the same one as long as nothing of it
 * changes. Good until the VPS would be deleted. An hour is worth no transfer on any chain: an hourly VPS has none.
 */
export async function openRenewalInvoice(
  tx: Transaction,
  services: Services,
  row: VpsRow,
  months: number,
): Promise<InvoiceView | undefined> {
  if (row.cycle === 'hourly') return undefined
  return services.invoicing.openForRenewal(tx, services, {
    accountId: row.account_id,
    serviceId: row.id,
    months,
    amount: cyclePrice(row) * BigInt(months),
    expiresAt: row.delete_at ?? graceEnd(row.cycle, services.clock.now(), row.paid_until!),
  })
}
