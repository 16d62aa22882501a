import { inTransaction } from '../database/transaction.ts'
import type { Services } from '../platform/services.ts'
import { expiredDelegations, markExpiryTold } from './delegation-store.ts'
import { notifyBoth } from './notify-both.ts'

/**
 * Tells owner and delegate of rights that ended by themselves, once. They ended at their time, whether or not this ran.
 * Takes no input; may be killed at any step.
 */
export async function endExpiredDelegations(services: Services): Promise<void> {
  const now = services.clock.now()
  for (const { id } of await expiredDelegations(services.db, now)) {
    await inTransaction(services.db, async (tx) => {
      const row = await markExpiryTold(tx, id, now)
      if (row) await notifyBoth(tx, services, 'delegation.expired', row)
    })
  }
}
