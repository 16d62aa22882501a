import { periodsAfter } from '@coinrack/money/index.ts'
import type { Call } from '../../dispatch/handler.ts'
import { hasRoomFor } from '../../hosts/free-share.ts'
import { lockHost } from '../../hosts/host-store.ts'
import { mayAutoRenew } from '../../ledger/auto-renew.ts'
import { lockBalance } from '../../ledger/balance.ts'
import { checkBudget, spendBudget, type TokenCharge } from '../../ledger/budget.ts'
import { judgeBalance } from '../../ledger/judge-balance.ts'
import { post } from '../../ledger/post.ts'
import { updateBilling } from '../billing/billing-store.ts'
import { cutPeriods, insertPeriods } from '../billing/period-store.ts'
import { allocateAddressAgain } from '../orders/allocate-address.ts'
import { noRoom } from '../orders/capacity.ts'
import { liveVpsOf, setOrderStatus } from '../orders/order-store.ts'
import type { SnapshotRow } from '../snapshot/snapshot-store.ts'
import { updateMachine } from './machine-store.ts'
import type { VpsRow } from './vps-store.ts'

/**
 * Reactivates a VPS whose machine is gone: with room on the host and a place, the same where it is still free, and a
 * new month that is paid from the balance at once. From now on it counts for the budget of the token that brought it
 * back.
 * @throws OperationError `scope_missing`, `budget_exceeded`, `approval_needed`, `insufficient_balance`, `account_owes`, `capacity`
 */
export async function beginPaidPeriod(
  { caller, asked, db, services, fail }: Call<'restoreSnapshot'>,
  row: VpsRow,
  snapshot: SnapshotRow,
): Promise<void> {
  if (!caller.scopes.includes('order'))
    throw fail('scope_missing', 'A cancelled VPS is paid for anew: the token lacks the scope "order"', {
      fields: { scope: 'order' },
    })
  const at = services.clock.now()
  const balance = await lockBalance(db, row.account_id)
  const charge: TokenCharge = {
    tokenId: caller.tokenId,
    amount: row.price,
    at,
    machine: { cap: 'max_live_vps', live: (tokenId: string) => liveVpsOf(db, tokenId) },
    asking: {
      call: asked,
      subject: `VPS ${row.hostname} (${row.product}) brought back, one month`,
      afterwards: row.auto_renew ? { price: row.price, per: 'month' } : undefined,
    },
  }
  await checkBudget(db, charge)
  // Before the money: a charge is not asked for what there is no room for.
  await lockHost(db, row.host_id)
  if (!(await hasRoomFor(db, services, row.host_id, row))) throw noRoom('There is no room for the VPS', [])
  const place = await allocateAddressAgain(db, services, row)
  const unpaid = judgeBalance(balance, row.price, 'bringing this VPS back')
  if (unpaid)
    throw fail(unpaid.code, unpaid.message, {
      fields: { ...unpaid.fields, invoice: null, checkout_url: null },
      nextSteps: [{ tool: 'topup_balance', why: 'Top up the balance and send the same restore again' }],
    })

  await spendBudget(db, charge)
  await post(db, {
    id: services.newId('transaction'),
    kind: 'charge',
    accountId: row.account_id,
    reference: `restore:${snapshot.id}`,
    description: `${row.hostname} (${row.product}) brought back, one month`,
    postings: [{ from: 'customer.available', to: 'revenue.vps', amount: row.price }],
    at,
  })
  const periods = periodsAfter('monthly', at, at, 1)
  await cutPeriods(db, row.id, at)
  await insertPeriods(db, row.id, periods, row.price)
  await setOrderStatus(db, row.order_id, 'active', { tokenId: caller.tokenId })
  await updateMachine(db, row.id, {
    wanted: 'running',
    forced: false,
    ...place,
    machine_gone_at: null,
    suspended_from: null,
  })
  await updateBilling(db, row.id, {
    cycle: 'monthly',
    auto_renew: row.auto_renew && (await mayAutoRenew(db, charge)),
    renewer_id: caller.tokenId,
    anchor_at: at,
    paid_until: periods[0]!.until,
    noticed_days: null,
    delete_at: null,
    cancel_at_period_end: false,
  })
}
