import { announce } from '../../database/changes.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { checkAutoRenew } from '../../ledger/auto-renew.ts'
import { balanceNow } from '../../ledger/balance-view.ts'
import { stateRefusal } from '../machine/state-refusal.ts'
import { lockVps, vpsById } from '../machine/vps-store.ts'
import { vpsView } from '../machine/vps-view.ts'
import { updateBilling } from './billing-store.ts'

export const setAutoRenew: Handler<'setAutoRenew'> = async ({ input, caller, db, services, fail }) => {
  const row = await lockVps(db, input.service_id)
  if (row.status === 'deleted' || row.status === 'failed') throw fail('service_busy', ...stateRefusal(row))
  if (input.enabled) await checkAutoRenew(db, { tokenId: caller.tokenId, at: services.clock.now() })
  await updateBilling(db, row.id, {
    auto_renew: input.enabled,
    ...(input.enabled ? { cancel_at_period_end: false, renewer_id: caller.tokenId } : {}),
  })
  await announce(db, row.id)
  return {
    service: vpsView(await vpsById(db, row.id)),
    ...(await balanceNow(db, services, caller.accountId)),
  }
}
