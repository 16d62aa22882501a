import { announce } from '../../database/changes.ts'
import { type Handler, preparedHandler } from '../../dispatch/handler.ts'
import { lockPlacement } from '../../platform/lock-placement.ts'
import { stateRefusal } from '../machine/state-refusal.ts'
import { lockVps } from '../machine/vps-store.ts'
import { askPorts } from '../orders/ask-host.ts'
import { freePublicPort, noRoom } from '../orders/capacity.ts'
import { RECONCILE_VPS } from '../topics.ts'
import { insertPort, networkOf } from './network-store.ts'
import { hasNetwork, portView } from './network-view.ts'

const MOST_PORTS = 20

/** Takes a public port and writes down where it is to lead; the reconciler makes it so. */
export const openPort: Handler<'openPort'> = preparedHandler(
  async ({ services }) => {
    const [hasOwnNetworks, ports] = await Promise.all([services.driver.hasOwnNetworks(), askPorts(services)])
    return { hasOwnNetworks, ports }
  },
  async ({ input, db, services, fail }, host) => {
    const id = input.service_id
    // Before the machine's own lock, in the order in which orders take them.
    await lockPlacement(db)
    const { status, ssh_host, ipv4 } = await lockVps(db, id)
    if (!hasNetwork(status)) throw fail('service_busy', ...stateRefusal({ id, status }))
    if (!host.hasOwnNetworks) throw fail('network_unavailable', 'Machines here have no network of their own')
    // Every port of an address of its own leads to the machine already.
    if (ipv4 !== null) return portView({ ...input, publicPort: input.port }, ssh_host)
    const { ports } = await networkOf(db, id)
    const open = ports.find(({ protocol, port }) => protocol === input.protocol && port === input.port)
    if (open) return portView(open, ssh_host)
    if (ports.length >= MOST_PORTS)
      throw fail('too_many_ports', `The VPS has ${MOST_PORTS} open ports, as many as one can have`, {
        nextSteps: [{ tool: 'list_ports', why: 'See which can be closed', arguments: { service_id: id } }],
      })
    const publicPort = await freePublicPort(db, services, host.ports)
    if (publicPort === undefined) throw noRoom('There is no free public port', [])
    const port = { protocol: input.protocol, port: input.port, publicPort }
    await insertPort(db, id, port)
    await announce(db, RECONCILE_VPS)
    return portView(port, ssh_host)
  },
)
