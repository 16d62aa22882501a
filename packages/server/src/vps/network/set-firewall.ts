import { announce } from '../../database/changes.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { demandFeature } from '../machine/demand-feature.ts'
import { stateRefusal } from '../machine/state-refusal.ts'
import { lockVps } from '../machine/vps-store.ts'
import { RECONCILE_VPS } from '../topics.ts'
import { networkOf, setFirewallOf } from './network-store.ts'
import { firewallView, hasNetwork } from './network-view.ts'

/** Writes down what is wanted; the reconciler makes it so. */
export const setFirewall: Handler<'setFirewall'> = async ({ input, db, fail }) => {
  const id = input.service_id
  const row = await lockVps(db, id)
  const { status } = row
  if (!hasNetwork(status)) throw fail('service_busy', ...stateRefusal({ id: input.service_id, status }))
  demandFeature(row, 'firewall', fail)
  await setFirewallOf(db, id, {
    defaultIn: input.default_in,
    defaultOut: input.default_out,
    rules: input.rules,
  })
  await announce(db, RECONCILE_VPS)
  return firewallView(await networkOf(db, id))
}
