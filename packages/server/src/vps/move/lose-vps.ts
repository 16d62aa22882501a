import { refundOfLostTime } from '@coinrack/money/index.ts'
import { announce } from '../../database/changes.ts'
import type { Transaction } from '../../database/transaction.ts'
import { post } from '../../ledger/post.ts'
import type { Services } from '../../platform/services.ts'
import { notifyOwner } from '../billing/notify-owner.ts'
import { periodsFrom } from '../billing/period-store.ts'
import { giveUpMachine, updateMachine } from '../machine/machine-store.ts'
import { notifyChange } from '../machine/notify-change.ts'
import type { VpsRow } from '../machine/vps-store.ts'
import { settleWork } from '../machine/work-store.ts'
import { freePorts } from '../network/network-store.ts'
import { unwantNames } from '../network/rdns/rdns-store.ts'
import { setOrderStatus } from '../orders/order-store.ts'
import { loseSnapshots } from '../snapshot/snapshot-store.ts'
import { endMove } from './move-store.ts'

/** The reason that its owner is told. */
const LOST = 'The host that it ran on was lost, and its disk with it'

/**
 * Gives up a VPS whose disk is on a dead host alone: paid time from the moment when the host was last heard of is credited, and its
 * owner is told. Nothing is asked of the host: what it has is of no VPS when it comes back.
 * @param lostAt when the host was last heard of
 */
export async function loseVps(tx: Transaction, services: Services, row: VpsRow, lostAt: Date): Promise<void> {
  const { id } = row
  const at = services.clock.now()
  if (row.wanted !== 'deleted') {
    await giveUpMachine(tx, id, { status: 'failed', failure_reason: LOST })
    await setOrderStatus(tx, row.order_id, 'cancelled')
    await services.invoicing.cancelRenewal(tx, services, id)
    const credited = refundOfLostTime(await periodsFrom(tx, id, lostAt), lostAt)
    if (credited > 0n)
      await post(tx, {
        id: services.newId('transaction'),
        kind: 'refund',
        accountId: row.account_id,
        reference: `lost:${id}`,
        description: `${row.hostname} was lost with its host`,
        postings: [{ from: 'revenue.vps', to: 'customer.available', amount: credited }],
        at,
      })
    await notifyChange(tx, services, row, { status: 'failed' })
    await notifyOwner(tx, services, row, { kind: 'lost', since: lostAt, credited })
  }
  await loseSnapshots(tx, id)
  await freePorts(tx, id)
  await unwantNames(tx, id, at)
  await updateMachine(tx, id, { machine_gone_at: at, set_aside_as: null, put_back: null })
  await settleWork(tx, id, at)
  await endMove(tx, id)
  await announce(tx, id)
}
