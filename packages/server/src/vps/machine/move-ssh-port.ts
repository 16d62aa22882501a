import { announce } from '../../database/changes.ts'
import { inTransaction } from '../../database/transaction.ts'
import { lockHost } from '../../hosts/host-store.ts'
import { randomNumber } from '../../hosts/place-machine.ts'
import { freePort } from '../../hosts/port-pool.ts'
import { hostOf } from '../../platform/machine-host.ts'
import type { Services } from '../../platform/services.ts'
import { updateMachine } from './machine-store.ts'
import { lockVps, type VpsRow } from './vps-store.ts'

/**
 * Gives another port to a machine whose port another program of the host took before its network was made. Only while
 * the customer cannot have connected there yet.
 * @returns whether it has another one now
 */
export async function moveSshPort(
  services: Services,
  { id, ssh_port: taken }: Pick<VpsRow, 'id' | 'ssh_port'>,
): Promise<boolean> {
  return inTransaction(services.db, async (tx) => {
    const row = await lockVps(tx, id)
    if (row.status !== 'provisioning' || row.ssh_port !== taken) return false
    await lockHost(tx, row.host_id)
    const port = await freePort(tx, hostOf(services, row), randomNumber(services))
    if (port === undefined) return false
    services.log.warn({ vps: id, taken, port }, 'A machine gets another port')
    await updateMachine(tx, id, { ssh_port: port })
    await announce(tx, id)
    return true
  })
}
