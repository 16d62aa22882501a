import type { SandboxSize } from '@coinrack/compute/ports/sandbox-runtime.ts'
import type { Queryable, Transaction } from '../../database/transaction.ts'
import { takenOfAll } from '../../hosts/free-share.ts'
import { lockHost, openHosts } from '../../hosts/host-store.ts'
import { OperationError } from '../../platform/errors.ts'
import type { SandboxHostFacts } from '../../platform/host-facts.ts'
import type { Services } from '../../platform/services.ts'
import { processorsTaken } from '../life/sandbox-store.ts'
import {
  chooseSandboxHost,
  hasRoom,
  type SandboxCandidate,
  type SandboxShare,
} from './choose-sandbox-host.ts'

type Placing = Pick<Services, 'config' | 'random'>

const RETRY_S = 15
const NO_ROOM = 'There is no room for another sandbox of this size'

/** A new sandbox, as far as its place depends on it. */
export interface ToPlace {
  size: SandboxSize
  /** The hosts that have what it is made from. Default: all of those that are asked. */
  holders?: ReadonlySet<string>
}

/**
 * Chooses the host for a new sandbox, and holds its lock until the transaction ends: until then no other sandbox or
 * machine is placed there. The host is chosen without a lock and looked at again with it; where it is full by then, the
 * lock is given back before the next one is tried.
 * @param hosts those that a sandbox of this kind can be made on, and what they said of themselves
 * @returns the id of the host
 * @throws OperationError `capacity`
 */
export async function placeSandbox(
  tx: Transaction,
  services: Placing,
  hosts: readonly SandboxHostFacts[],
  wanted: ToPlace,
): Promise<string> {
  const share = shareOf(services, wanted.size)
  const found = await candidates(tx, services, hosts, wanted)
  const excluded = new Set<string>()
  for (;;) {
    const chosen = chooseSandboxHost(found, share, excluded, (below) => randomBelow(services, below))
    if (!chosen) throw noRoom(NO_ROOM)
    await tx.query('savepoint place_sandbox')
    await lockHost(tx, chosen.id)
    const own = hosts.filter(({ id }) => id === chosen.id)
    const [now] = await candidates(tx, services, own, wanted)
    if (now && hasRoom(now, share)) {
      await tx.query('release savepoint place_sandbox')
      return chosen.id
    }
    await tx.query('rollback to savepoint place_sandbox')
    excluded.add(chosen.id)
  }
}

/**
 * Whether a new sandbox could be placed now, for a caller that only asks.
 * @throws OperationError `capacity`
 */
export async function demandRoom(
  db: Queryable,
  services: Placing,
  hosts: readonly SandboxHostFacts[],
  wanted: ToPlace,
): Promise<void> {
  const share = shareOf(services, wanted.size)
  const found = await candidates(db, services, hosts, wanted)
  if (!found.some((host) => hasRoom(host, share))) throw noRoom(NO_ROOM)
}

/**
 * Makes sure that a host has room for a sandbox which cannot be on another; until the transaction ends no other is
 * placed there. It may be draining.
 * @param kept the disk of the sandbox is counted already
 * @throws OperationError `capacity`
 */
export async function takeRoomOn(
  tx: Transaction,
  services: Placing,
  host: SandboxHostFacts,
  size: SandboxSize,
  { kept = false } = {},
): Promise<void> {
  await lockHost(tx, host.id)
  const { diskGb, ...share } = shareOf(services, size)
  const [free] = await freeOf(tx, services, [host])
  if (!hasRoom(free!, { ...share, diskGb: kept ? 0 : diskGb })) throw noRoom(NO_ROOM)
}

/** Processors and memory count for less where the operator promises them more than once. */
const shareOf = ({ config }: Placing, { vcpus, memoryMb, diskGb }: SandboxSize): SandboxShare => ({
  vcpus: vcpus / config.sandboxOvercommit,
  memoryMb: memoryMb / config.sandboxOvercommit,
  diskGb,
})

/** Those of the hosts that get new sandboxes, with what is left of each. */
async function candidates(
  db: Queryable,
  services: Placing,
  hosts: readonly SandboxHostFacts[],
  { holders }: ToPlace,
): Promise<SandboxCandidate[]> {
  const open = await openHosts(
    db,
    hosts.map(({ id }) => id),
  )
  const usable = hosts.filter(({ id }) => open.has(id))
  const free = await freeOf(db, services, usable)
  return usable.map(({ id, capacity: { load } }, index) => ({
    ...free[index]!,
    id,
    load,
    hasTemplate: holders?.has(id) ?? true,
  }))
}

/** The free share of each host, in their order. */
async function freeOf(
  db: Queryable,
  { config }: Placing,
  hosts: readonly SandboxHostFacts[],
): Promise<SandboxShare[]> {
  const ids = hosts.map(({ id }) => id)
  const taken = await takenOfAll(db, { config }, ids)
  const processors = await processorsTaken(db, config, ids)
  return hosts.map(({ id, capacity }) => ({
    vcpus: capacity.vcpus - (processors.get(id) ?? 0),
    memoryMb: capacity.memoryMb - (taken.get(id)?.memory_mb ?? 0),
    diskGb: capacity.diskGb - (taken.get(id)?.disk_gb ?? 0),
  }))
}

const randomBelow = ({ random }: Placing, below: number) =>
  Buffer.from(random.bytes(4)).readUInt32BE() % below

/** The answer when a sandbox cannot run now. */
export const noRoom = (why: string) =>
  new OperationError('capacity', `${why}; nothing was charged`, {
    retryAfter: RETRY_S,
    nextSteps: [
      { tool: 'list_sandboxes', why: 'See whether one of yours can end or pause, which makes room' },
    ],
  })
