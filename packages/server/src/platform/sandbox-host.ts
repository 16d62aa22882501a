import type { SandboxArtifacts } from '@coinrack/compute/ports/sandbox-artifacts.ts'
import type { SandboxChannel } from '@coinrack/compute/ports/sandbox-channel.ts'
import type { SandboxRuntime } from '@coinrack/compute/ports/sandbox-runtime.ts'
import { OperationError } from './errors.ts'
import type { Services } from './services.ts'

/** A host that sandboxes run on, as this process reaches it. */
export interface SandboxHost {
  runtime: SandboxRuntime
  /** The inside of them. */
  channel: SandboxChannel
  /** The files that they are made from. */
  artifacts: SandboxArtifacts
}

/** The hosts of sandboxes that this process reaches now, by id. One that joins, or is lost, does so while it runs. */
export type SandboxHosts = Map<string, SandboxHost>

/** The images of templates that this computer has built, for the hosts that have none. */
export interface SandboxImages extends Pick<SandboxArtifacts, 'list' | 'describe' | 'read'> {
  /** Builds those that are not built yet. */
  prepare(): Promise<void>
}

/** How long it takes until they are open. */
const OPEN_S = 2
/** How soon a host that was lost may be back. */
const BACK_S = 15

/** Makes sure that some host runs sandboxes now. @throws OperationError `sandboxes_unavailable` */
export function demandSandboxes({ sandboxes, config }: Pick<Services, 'sandboxes' | 'config'>): void {
  if (sandboxes.size > 0) return
  if (!config.sandboxes)
    throw new OperationError('sandboxes_unavailable', 'This host runs no sandboxes; nothing was charged')
  throw new OperationError('sandboxes_unavailable', 'The sandboxes are not open yet; nothing was charged', {
    retryAfter: OPEN_S,
  })
}

/**
 * The host that a sandbox is on.
 * @throws OperationError `sandboxes_unavailable` while it cannot be reached
 */
export function sandboxHostOf(
  services: Pick<Services, 'sandboxes' | 'config'>,
  { host_id }: { host_id: string },
): SandboxHost {
  demandSandboxes(services)
  const host = services.sandboxes.get(host_id)
  if (host) return host
  throw hostAway()
}

/** The answer while a host cannot be reached. */
export const hostAway = () =>
  new OperationError(
    'sandboxes_unavailable',
    'The host of this sandbox cannot be reached at the moment; the time is not charged',
    { retryAfter: BACK_S },
  )
