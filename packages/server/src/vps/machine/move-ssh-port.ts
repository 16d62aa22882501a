import { announce } from '../../database/changes.ts'
import { inTransaction } from '../../database/transaction.ts'
import { lockPlacement } from '../../platform/lock-placement.ts'
import type { Services } from '../../platform/services.ts'
import { askPorts } from '../orders/ask-host.ts'
import { freePublicPort } from '../orders/capacity.ts'
import { lockVps, updateVps, type VpsRow } from './vps-store.ts'

/**
 * Gives another port to a machine whose port something else on the host took before its network was made. Only while
 * nobody can have connected there yet.
 * @returns whether it has another one now
 */
export async function moveSshPort(
  services: Services,
  { id, ssh_port: taken }: Pick<VpsRow, 'id' | 'ssh_port'>,
): Promise<boolean> {
  const ports = await askPorts(services)
  return inTransaction(services.db, async (tx) => {
    await lockPlacement(tx)
    const { status, ssh_port } = await lockVps(tx, id)
    if (status !== 'provisioning' || ssh_port !== taken) return false
    const port = await freePublicPort(tx, services, ports)
    if (port === undefined) return false
    services.log.warn({ vps: id, taken, port }, 'A machine gets another port')
    await updateVps(tx, id, { ssh_port: port })
    await announce(tx, id)
    return true
  })
}
