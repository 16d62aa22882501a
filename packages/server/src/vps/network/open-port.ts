import { announce } from '../../database/changes.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { lockHost } from '../../hosts/host-store.ts'
import { randomNumber } from '../../hosts/place-machine.ts'
import { freePort } from '../../hosts/port-pool.ts'
import { hostOf } from '../../platform/machine-host.ts'
import { demandFeature } from '../machine/demand-feature.ts'
import { stateRefusal } from '../machine/state-refusal.ts'
import { lockVps } from '../machine/vps-store.ts'
import { noRoom } from '../orders/capacity.ts'
import { RECONCILE_VPS } from '../topics.ts'
import { insertPort, networkOf } from './network-store.ts'
import { hasNetwork, portView } from './network-view.ts'

const MOST_PORTS = 20

/** Takes a public port and writes down where it is to lead; the reconciler makes it so. */
export const openPort: Handler<'openPort'> = async ({ input, db, services, fail }) => {
  const id = input.service_id
  const row = await lockVps(db, id)
  const { status, ssh_host, ipv4, host_id } = row
  if (!hasNetwork(status)) throw fail('service_busy', ...stateRefusal({ id, status }))
  demandFeature(row, 'firewall', fail)
  // Every port of an address of its own leads to the machine already.
  if (ipv4 !== null) return portView({ ...input, publicPort: input.port }, ssh_host)
  const { ports } = await networkOf(db, id)
  const open = ports.find(({ protocol, port }) => protocol === input.protocol && port === input.port)
  if (open) return portView(open, ssh_host)
  if (ports.length >= MOST_PORTS)
    throw fail('too_many_ports', `The VPS has ${MOST_PORTS} open ports, as many as one can have`, {
      nextSteps: [{ tool: 'list_ports', why: 'See which can be closed', arguments: { service_id: id } }],
    })
  await lockHost(db, host_id)
  const publicPort = await freePort(db, hostOf(services, { host_id }), randomNumber(services))
  if (publicPort === undefined) throw noRoom('There is no free public port', [])
  const port = { protocol: input.protocol, port: input.port, publicPort }
  await insertPort(db, { id, host_id }, port)
  await announce(db, RECONCILE_VPS)
  return portView(port, ssh_host)
}
