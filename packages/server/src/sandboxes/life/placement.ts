import type { SandboxCapacity, SandboxSize } from '@coinrack/compute/ports/sandbox-runtime.ts'
import type { Queryable, Transaction } from '../../database/transaction.ts'
import { takenOf } from '../../hosts/free-share.ts'
import { lockHost } from '../../hosts/host-store.ts'
import { OperationError } from '../../platform/errors.ts'
import { LOCAL_HOST } from '../../platform/machine-host.ts'
import type { Sandboxes, Services } from '../../platform/services.ts'
import { takenProcessors } from './sandbox-store.ts'

const RETRY_S = 15
/** How long it takes until they are open. */
const OPEN_S = 2

/** The means by which this host runs sandboxes. @throws OperationError `sandboxes_unavailable` */
export function sandboxesOf({ sandboxes, config }: Pick<Services, 'sandboxes' | 'config'>): Sandboxes {
  if (sandboxes) return sandboxes
  if (!config.sandboxes)
    throw new OperationError('sandboxes_unavailable', 'This host runs no sandboxes; nothing was charged')
  throw new OperationError('sandboxes_unavailable', 'The sandboxes are not open yet; nothing was charged', {
    retryAfter: OPEN_S,
  })
}

/**
 * Makes sure that the host has room for one more that runs; until the transaction ends no other is placed.
 * @param total of the host
 * @param kept its disk is counted already
 * @throws OperationError `capacity`
 */
export async function takeRoom(
  tx: Transaction,
  services: Services,
  total: SandboxCapacity,
  size: SandboxSize,
  { kept = false } = {},
): Promise<void> {
  await lockHost(tx, LOCAL_HOST)
  await demandRoom(tx, services, total, size, { kept })
}

/**
 * Whether there is room now, for a caller that only asks.
 * @throws OperationError `capacity`
 */
export async function demandRoom(
  db: Queryable,
  services: Services,
  total: SandboxCapacity,
  size: SandboxSize,
  { kept = false } = {},
): Promise<void> {
  const { sandboxOvercommit: times } = services.config
  const taken = await takenOf(db, services, LOCAL_HOST)
  if (
    (await takenProcessors(db, services.config)) + size.vcpus / times <= total.vcpus &&
    taken.memory_mb + size.memoryMb / times <= total.memoryMb &&
    taken.disk_gb + (kept ? 0 : size.diskGb) <= total.diskGb
  )
    return
  throw noRoom('There is no room for another sandbox of this size')
}

/** The answer when a sandbox cannot run now. */
export const noRoom = (why: string) =>
  new OperationError('capacity', `${why}; nothing was charged`, {
    retryAfter: RETRY_S,
    nextSteps: [
      { tool: 'list_sandboxes', why: 'See whether one of yours can end or pause, which makes room' },
    ],
  })
