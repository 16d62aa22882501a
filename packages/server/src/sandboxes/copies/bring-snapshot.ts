import type { SandboxArtifact } from '@coinrack/compute/ports/sandbox-artifacts.ts'
import { SandboxError } from '@coinrack/compute/ports/sandbox-runtime.ts'
import { sandboxHostOf } from '../../platform/sandbox-host.ts'
import type { Services } from '../../platform/services.ts'
import { artifactOf, holdersOf, noteCopy } from '../snapshots/snapshot-store.ts'
import { copyArtifact } from './copy-artifact.ts'
import { supplyImages } from './supply-images.ts'

/**
 * Gives a host a customer's snapshot, from one that has it, before a sandbox is made from it there.
 * @throws SandboxError `guest_failed` while no host that has it can be reached, and what copying throws
 */
export async function bringSnapshot(services: Services, snapshotId: string, hostId: string): Promise<void> {
  const { db, sandboxes } = services
  const holders = await holdersOf(db, snapshotId)
  if (holders.has(hostId)) return
  const artifact = await artifactOf(db, snapshotId)
  const giver = [...holders].find((id) => sandboxes.has(id))
  if (!artifact || giver === undefined)
    throw new SandboxError('guest_failed', `No host that has ${snapshotId} can be reached`)
  await noteCopy(db, snapshotId, hostId, { isWhole: false })
  await bringArtifact(services, artifact, { from: giver, to: hostId })
  await noteCopy(db, snapshotId, hostId, { isWhole: true })
}

/** Gives a host an artifact, and the images that it needs, from another one. */
export async function bringArtifact(
  services: Services,
  artifact: SandboxArtifact,
  { from, to }: { from: string; to: string },
): Promise<void> {
  const giver = sandboxHostOf(services, { host_id: from })
  const taker = sandboxHostOf(services, { host_id: to })
  await supplyImages(services, taker, artifact.needs)
  await copyArtifact(artifact, giver.artifacts, taker.artifacts)
}
