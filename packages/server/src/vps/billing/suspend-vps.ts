import { announce } from '../../database/changes.ts'
import type { Transaction } from '../../database/transaction.ts'
import type { Services } from '../../platform/services.ts'
import type { InvoiceView } from '../../platform/slice-ports.ts'
import { giveUpMachine, releaseMachine, suspendMachine } from '../machine/machine-store.ts'
import { notifyChange } from '../machine/notify-change.ts'
import type { VpsRow } from '../machine/vps-store.ts'
import { settleWork } from '../machine/work-store.ts'
import { setOrderStatus } from '../orders/order-store.ts'
import { keepDisk } from '../snapshot/keep-disk.ts'
import { RECONCILE_VPS } from '../topics.ts'
import { updateBilling } from './billing-store.ts'
import { chargePeriods, type PeriodCharge } from './charge-periods.ts'
import { type Coverage, notifyOwner } from './notify-owner.ts'

/** The paid time is over: the machine is powered off, and kept for a while. What its owner wants of it stays. */
export async function suspendVps(
  tx: Transaction,
  services: Services,
  row: VpsRow,
  { deleteAt, covered, invoice }: { deleteAt: Date; covered: Coverage; invoice: InvoiceView | undefined },
): Promise<void> {
  const at = services.clock.now()
  await suspendMachine(tx, row)
  await updateBilling(tx, row.id, { delete_at: deleteAt })
  await settleWork(tx, row.id, at)
  await notifyChange(tx, services, row, { status: 'suspended' })
  await notifyOwner(tx, services, { ...row, delete_at: deleteAt }, { kind: 'suspended', covered, invoice })
  await announce(tx, row.id)
  await announce(tx, RECONCILE_VPS)
}

/**
 * Charges a suspended VPS from now on and wants its machine on again. Months are anchored anew: what lay between was
 * not served.
 * @returns micro-USD
 * @throws InsufficientFunds
 * @throws OperationError `budget_exceeded`, `approval_needed`
 */
export async function resumeVps(tx: Transaction, services: Services, charge: PeriodCharge): Promise<bigint> {
  const charged = await chargePeriods(tx, services, charge)
  const { row, periods } = charge
  await updateBilling(tx, row.id, { anchor_at: periods[0]!.from })
  await releaseVps(tx, services, { ...row, paid_until: periods.at(-1)!.until })
  return charged
}

/** Wants the machine of a suspended VPS on again, as its owner left it, in time that is paid. */
export async function releaseVps(tx: Transaction, services: Services, row: VpsRow): Promise<void> {
  const status = await releaseMachine(tx, row)
  await updateBilling(tx, row.id, { delete_at: null })
  await notifyChange(tx, services, row, { status })
  await notifyOwner(tx, services, row, { kind: 'resumed' })
  await announce(tx, row.id)
  await announce(tx, RECONCILE_VPS)
}

/** Ends a VPS whose time is over: after a cancellation to the end of it, or after the grace. */
export async function endVps(tx: Transaction, services: Services, row: VpsRow): Promise<void> {
  // A disk that was to be put back stays kept for its time.
  if (row.put_back !== null) await keepDisk(tx, services, row, 'cancel')
  await giveUpMachine(tx, row.id)
  await setOrderStatus(tx, row.order_id, 'cancelled')
  await services.invoicing.cancelRenewal(tx, services, row.id)
  await notifyChange(tx, services, row, { status: 'deleted' })
  await notifyOwner(tx, services, row, { kind: 'deleted' })
  await announce(tx, row.id)
  await announce(tx, RECONCILE_VPS)
}
