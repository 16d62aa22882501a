import { announce } from '../../database/changes.ts'
import { inTransaction } from '../../database/transaction.ts'
import { nextIpv6 } from '../../hosts/address-pool.ts'
import { placeMachine } from '../../hosts/place-machine.ts'
import { hostOf } from '../../platform/machine-host.ts'
import type { Services } from '../../platform/services.ts'
import { updateMachine } from './machine-store.ts'
import { lockVps, type VpsRow } from './vps-store.ts'

/**
 * Places a machine anew that its host could not make, on a host that has not refused it yet. Only a new one: of one that was
 * delivered the disk is where it is.
 * @returns whether it is on another one now
 */
export async function moveToAnotherHost(services: Services, { id, host_id: left }: VpsRow): Promise<boolean> {
  const row = await inTransaction(services.db, async (tx) => {
    const { status, host_id, refused_by, ...before } = await lockVps(tx, id)
    if (status !== 'provisioning' || host_id !== left || before.set_aside_as !== null) return undefined
    const except = [...new Set([...refused_by, left])]
    const found = await placeMachine(tx, services, {
      memory_mb: before.memory_mb,
      disk_gb: before.disk_gb,
      network: before.ipv4 === null ? 'nat' : 'dedicated',
      ipv6: before.ipv6 !== null,
      image: before.image,
      region: before.region,
      except,
    })
    if (typeof found === 'string') return undefined
    const ipv6 = await nextIpv6(tx, found.host.network, found.features)
    await updateMachine(tx, id, { ...found.place, ipv6, refused_by: except })
    await announce(tx, id)
    return found.place
  })
  if (!row) return false
  services.log.warn({ vps: id, from: left, to: row.host_id }, 'A machine is made on another host')
  // Whatever was made of it. Left by a process that ends here, or on a host that does not answer, it is an orphan.
  await hostOf(services, { host_id: left })
    .driver.destroy(id)
    .catch((error) =>
      services.log.warn({ err: error, vps: id, host: left }, 'It could not be destroyed there'),
    )
  return true
}
