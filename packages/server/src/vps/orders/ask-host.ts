import { isFreePort } from '@coinrack/host/free-port.ts'
import { demandNoTransaction, type Queryable } from '../../database/transaction.ts'
import type { HostFacts, HostPorts, HostRoom } from '../../platform/host-facts.ts'
import type { Services } from '../../platform/services.ts'

const EVERY_ADDRESS = '0.0.0.0'
const CANDIDATES = 50

/**
 * Asks the host, before a transaction, all that an order needs of it.
 * @param ports looked at beside the one that would be taken
 */
export async function askHost(services: Services, ports: readonly number[] = []): Promise<HostFacts> {
  const [room, images, hostPorts] = await Promise.all([
    askRoom(services),
    services.driver.images(),
    askPorts(services, ports),
  ])
  return { ...room, images, ports: hostPorts }
}

export async function askRoom({ driver }: Services): Promise<HostRoom> {
  const [capacity, hasOwnNetworks] = await Promise.all([driver.capacity(), driver.hasOwnNetworks()])
  return { capacity, hasOwnNetworks }
}

/**
 * Looks for a public port on which no program of the host listens. The search begins anywhere in the range, so that two
 * that search at the same moment rarely meet, also those of two services with the same range, each of which sees only its own.
 * @param also looked at, wherever the search begins
 */
export async function askPorts(
  { db, config, driver, random }: Services,
  also: readonly number[] = [],
): Promise<HostPorts> {
  demandNoTransaction('A look for free ports')
  const { from, to } = config.sshPorts
  const first = from + (Buffer.from(random.bytes(4)).readUInt32BE() % (to - from + 1))
  const used = new Set(await driver.usedPorts())
  for (const port of also) if (!(await isFreePort(port, EVERY_ADDRESS))) used.add(port)
  for (const port of await unusedPorts(db, config, { first, used }, CANDIDATES)) {
    if (await isFreePort(port, EVERY_ADDRESS)) break
    used.add(port)
  }
  return { first, used }
}

/** The next ports of the range that no machine has. */
export async function unusedPorts(
  db: Queryable,
  { sshPorts: { from, to } }: Services['config'],
  { first, used }: HostPorts,
  most: number,
): Promise<number[]> {
  const { rows } = await db.query<{ port: number }>(
    `select port from generate_series($1::int, $2::int) as series (port)
     where not exists (select from vps where ssh_port = port and machine_gone_at is null)
       and not exists (select from vps_port where public_port = series.port)
       and not port = any ($5::int[])
     order by port < $4, port limit $3`,
    [from, to, most, first, [...used]],
  )
  return rows.map(({ port }) => port)
}
