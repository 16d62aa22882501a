import { announce } from '../../database/changes.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { stateRefusal } from '../machine/state-refusal.ts'
import { lockVps } from '../machine/vps-store.ts'
import { RECONCILE_RDNS } from '../topics.ts'
import { hasNetwork } from './network-view.ts'
import { wantName } from './rdns/rdns-store.ts'

/** Writes down what the addresses of a VPS are to be called; the reconciler publishes it. */
export const setRdns: Handler<'setRdns'> = async ({ input, db, services, fail }) => {
  const { id, status, ipv4, ipv6 } = await lockVps(db, input.service_id)
  const addresses = [ipv4, ipv6].filter((address) => address !== null)
  if (addresses.length === 0) throw fail('no_own_address', 'The VPS shares its address with others')
  if (!hasNetwork(status)) throw fail('service_busy', ...stateRefusal({ id, status }))
  if (!services.rdns) throw fail('rdns_unavailable', 'No name server for reverse names is set up here')
  const records = []
  for (const address of addresses) {
    const { hostname, done, wanted, failure } = await wantName(
      db,
      address,
      id,
      input.hostname,
      services.clock.now(),
    )
    records.push({ address, hostname, published: done >= wanted, reason: done >= wanted ? null : failure })
  }
  await announce(db, RECONCILE_RDNS)
  return { records }
}
