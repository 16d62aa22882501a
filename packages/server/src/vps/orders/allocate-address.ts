import type { Transaction } from '../../database/transaction.ts'
import { freeAddress, isFreeAddress } from '../../hosts/address-pool.ts'
import { lockAddresses } from '../../hosts/host-store.ts'
import { type Place, randomNumber } from '../../hosts/place-machine.ts'
import { freePort, isPortTaken } from '../../hosts/port-pool.ts'
import { hostOf } from '../../platform/machine-host.ts'
import type { Services } from '../../platform/services.ts'
import type { VpsRow } from '../machine/vps-store.ts'
import { noPlace } from './capacity.ts'

/**
 * Where a machine that was gone is reached, on the host that has its disk: as before where that is still free, else at
 * another address or port. Its IPv6 address was not given to another machine. Under the lock of the host.
 * @throws OperationError `capacity` when there is none
 */
export async function allocateAddressAgain(
  tx: Transaction,
  services: Services,
  { host_id, ssh_host, ssh_port, ipv4, machine_gone_at }: Place & Pick<VpsRow, 'machine_gone_at'>,
): Promise<Place> {
  const host = hostOf(services, { host_id })
  if (ipv4 !== null) {
    await lockAddresses(tx, host.network)
    if (await isFreeAddress(tx, host.network, ipv4)) return { host_id, ssh_host, ssh_port, ipv4 }
    const other = await freeAddress(tx, host.network)
    if (other === undefined) throw noPlace('no_address')
    return { host_id, ssh_host: other, ssh_port, ipv4: other }
  }
  const port = (await isPortTaken(tx, host, ssh_port, machine_gone_at!))
    ? await freePort(tx, host, randomNumber(services))
    : ssh_port
  if (port === undefined) throw noPlace('no_port')
  return { host_id, ssh_host: host.network.publicIp, ssh_port: port, ipv4 }
}
