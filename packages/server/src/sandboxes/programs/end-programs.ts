import { inTransaction } from '../../database/transaction.ts'
import type { Services } from '../../platform/services.ts'
import { endSandboxesOfPrograms } from '../life/sandbox-store.ts'

/**
 * Ends the programs of a process that tended the sandboxes before this one: nobody carries their calls any more. Called
 * before the sandboxes are open. Takes no input.
 */
export async function endPrograms(services: Services): Promise<void> {
  const ended = await inTransaction(services.db, async (tx) => {
    await services.programTokens.endAll(tx, services)
    return endSandboxesOfPrograms(tx)
  })
  if (ended > 0) services.log.warn({ sandboxes: ended }, 'Programs of an earlier process are ended')
}
