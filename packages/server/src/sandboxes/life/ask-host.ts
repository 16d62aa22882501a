import type { SandboxHostFacts } from '../../platform/host-facts.ts'
import type { Services } from '../../platform/services.ts'
import { sandboxesOf } from './placement.ts'

/** Asks the host, before a transaction, all that a new sandbox needs of it. @throws OperationError `sandboxes_unavailable` */
export async function askHost(services: Services): Promise<SandboxHostFacts> {
  const { runtime } = sandboxesOf(services)
  const [capacity, templates, hasNetworks] = await Promise.all([
    runtime.capacity(),
    runtime.templates(),
    runtime.hasNetworks(),
  ])
  return { capacity, templates, hasNetworks }
}
