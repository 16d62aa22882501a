import { takenOfAll } from '../../hosts/free-share.ts'
import { LOCAL_HOST } from '../../platform/machine-host.ts'
import { sandboxHostOf } from '../../platform/sandbox-host.ts'
import type { Services } from '../../platform/services.ts'

/** Memory of this computer, in MB, that neither a machine nor a sandbox was promised: what is made in advance has no other. */
export async function unpromisedMemory(services: Services): Promise<number> {
  const { runtime } = sandboxHostOf(services, { host_id: LOCAL_HOST })
  const { memoryMb } = await runtime.capacity()
  const taken = await takenOfAll(services.db, services, [LOCAL_HOST])
  return memoryMb - (taken.get(LOCAL_HOST)?.memory_mb ?? 0)
}
