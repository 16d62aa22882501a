import { DriverError } from '@coinrack/compute/ports/vps-driver.ts'
import { hostOf } from '../../platform/machine-host.ts'
import type { Services } from '../../platform/services.ts'
import type { VpsRow } from '../machine/vps-store.ts'
import { networkOf } from './network-store.ts'

const TRY_AGAIN_MS = 15_000

/**
 * Brings what is wanted of networks to the machines: after each change, and once in the life of this process, since
 * the rules of the host may be gone or come from other settings.
 */
export function networkApplier(services: Services) {
  const { db, clock, log } = services
  const applied = new Set<string>()
  const failedAt = new Map<string, number>()

  return {
    isApplied: (id: string) => applied.has(id),
    /** Never throws: a machine whose rules do not load is still a machine, and is tried again. */
    async apply({ id, host_id }: Pick<VpsRow, 'id' | 'host_id'>): Promise<void> {
      const now = clock.now().getTime()
      if (now - (failedAt.get(id) ?? 0) < TRY_AGAIN_MS) return
      const { firewall, ports, wanted_network } = await networkOf(db, id)
      try {
        await hostOf(services, { host_id }).driver.applyNetwork(id, { firewall, ports })
        applied.add(id)
        failedAt.delete(id)
        // Not more than was read: a change of the meantime is still to be done.
        await db.query('update vps_machine set done_network = $2 where id = $1', [id, wanted_network])
      } catch (error) {
        // A call that the host did not answer may be done or not: a filter is not left open for the pause after a
        // refusal.
        if (error instanceof DriverError) failedAt.set(id, now)
        log.error({ err: error, vps: id }, 'The network of a VPS could not be applied; it is tried again')
      }
    },
    forget(isLive: (id: string) => boolean) {
      for (const seen of [applied, failedAt]) for (const id of seen.keys()) if (!isLive(id)) seen.delete(id)
    },
  }
}
