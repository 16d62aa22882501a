import { takenOf } from '../../hosts/free-share.ts'
import { LOCAL_HOST } from '../../platform/machine-host.ts'
import type { Services } from '../../platform/services.ts'
import { sandboxesOf } from './placement.ts'

/** Memory of the host, in MB, that neither a machine nor a sandbox was promised: what is made in advance has no other. */
export async function unpromisedMemory(services: Services): Promise<number> {
  const { memoryMb } = await sandboxesOf(services).runtime.capacity()
  const taken = await takenOf(services.db, services, LOCAL_HOST)
  return memoryMb - taken.memory_mb
}
