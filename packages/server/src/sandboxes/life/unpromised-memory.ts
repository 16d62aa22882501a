import type { Services } from '../../platform/services.ts'
import { sandboxesOf } from './placement.ts'
import { takenShare } from './sandbox-store.ts'

/** Memory of the host, in MB, that neither a machine nor a sandbox was promised: what is made in advance has no other. */
export async function unpromisedMemory(services: Services): Promise<number> {
  const { memoryMb } = await sandboxesOf(services).runtime.capacity()
  const sandboxes = await takenShare(services.db, services.config)
  const machines = await services.ordering.taken(services.db)
  return memoryMb - sandboxes.memory_mb - machines.memory_mb
}
