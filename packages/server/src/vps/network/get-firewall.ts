import type { Handler } from '../../dispatch/handler.ts'
import { networkOf } from './network-store.ts'
import { firewallView } from './network-view.ts'

export const getFirewall: Handler<'getFirewall'> = async ({ input, db }) =>
  firewallView(await networkOf(db, input.service_id))
