import type { Queryable, Transaction } from '../../database/transaction.ts'
import type { HostPorts } from '../../platform/host-facts.ts'
import type { Services } from '../../platform/services.ts'
import { freeAddress, isFreeAddress } from '../machine/own-address.ts'
import type { NewVps, VpsRow } from '../machine/vps-store.ts'
import { freePublicPort, isPortTaken, noRoom } from './capacity.ts'

const SSH_PORT = 22

type Place = Pick<NewVps, 'ssh_host' | 'ssh_port' | 'ipv4'>

/**
 * Where a machine that was gone is reached: as before where nobody else is by now, else at another address or port. Its
 * IPv6 address was given to nobody. Under the placement lock.
 * @param ports the one that it had was looked at
 * @throws OperationError `capacity` when there is none
 */
export async function takePlaceAgain(
  tx: Transaction,
  services: Services,
  ports: HostPorts,
  { ssh_host, ssh_port, ipv4 }: Pick<VpsRow, keyof Place>,
): Promise<Place> {
  if (ipv4 !== null) {
    const isFree = await isFreeAddress(tx, services, ipv4)
    return isFree ? { ssh_host, ssh_port, ipv4 } : findPlace(tx, services, ports, 'dedicated')
  }
  const isFree = !(await isPortTaken(tx, ports, ssh_port))
  return isFree
    ? { ssh_host: services.config.publicIp, ssh_port, ipv4 }
    : findPlace(tx, services, ports, 'nat')
}

/**
 * Where a new machine would be reached: at an address of its own, or at a port of the host's. To take it, the placement
 * lock is held until that is written down.
 * @throws OperationError `capacity` when there is none
 */
export async function findPlace(
  db: Queryable,
  services: Services,
  ports: HostPorts,
  network: 'nat' | 'dedicated',
): Promise<Place> {
  if (network === 'nat') {
    const port = await freePublicPort(db, services, ports)
    if (port === undefined) throw noRoom('There is no free SSH port')
    return { ssh_host: services.config.publicIp, ssh_port: port, ipv4: null }
  }
  const ipv4 = await freeAddress(db, services)
  if (ipv4 === undefined) throw noRoom('There is no free address')
  return { ssh_host: ipv4, ssh_port: SSH_PORT, ipv4 }
}
