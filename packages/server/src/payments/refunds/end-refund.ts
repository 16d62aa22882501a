import type { Transaction } from '../../database/transaction.ts'
import { releaseHold } from '../../ledger/hold.ts'
import type { Services } from '../../platform/services.ts'
import { notifyRefund } from './notify-refund.ts'
import { closeRefundRow, type RefundRow, refundById } from './refund-store.ts'

/** Closes an unpaid refund: releases its hold and notifies the account. The caller must hold the lock of the refund. */
export async function endRefund(
  tx: Transaction,
  services: Pick<Services, 'newId' | 'clock'>,
  { id, hold_id }: RefundRow,
  as: { status: 'cancelled' } | { status: 'rejected'; reason: string },
): Promise<void> {
  const at = services.clock.now()
  await releaseHold(tx, {
    holdId: hold_id,
    transactionId: services.newId('transaction'),
    description: `Refund ${id} was ${as.status}`,
    reason: as.status,
    at,
  })
  await closeRefundRow(tx, id, { ...as, at })
  await notifyRefund(tx, services, await refundById(tx, id), as.status)
}
