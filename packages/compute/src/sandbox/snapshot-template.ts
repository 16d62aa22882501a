import { createHash } from 'node:crypto'
import { lchown, lstat, mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunAs } from '@coinrack/host/as-user.ts'
import { finishTemplate, saveState } from '../machine/saving.ts'
import type { SealedMemory } from '../machine/sealed-memory.ts'
import type { SandboxSize } from '../ports/sandbox-runtime.ts'
import { sandboxFiles } from './command-line.ts'
import { asSandboxError } from './failures.ts'
import type { HostResources } from './host-resources.ts'
import { renew } from './renew.ts'
import { copySparsely, sandboxMachineAt, startFromState } from './sandbox-machine.ts'
import type { KeptSnapshot, Snapshots } from './snapshots.ts'

/*
 * A snapshot as a machine that is saved with its memory in a file, so that sandboxes begin as private copies of that memory,
 * as those of the catalog do. It can be made again from the snapshot at any time.
 */

/** The properties that such a machine and its clones have in common. */
export interface SnapshotShape extends SandboxSize {
  /** `name` is the id of the snapshot. */
  image: { name: string }
  kept: KeptSnapshot
}

const MIB = 1024 ** 2
/** Sandboxes of a larger state begin with a copy of their own, which takes longer and holds nothing meanwhile. */
const MOST_STATE_BYTES = 1024 * MIB
const SYNC_MS = 60_000

export const canBeCloned = ({ state }: KeptSnapshot): boolean => state.bytes <= MOST_STATE_BYTES

/** Names the saved machine: all that its state depends on, the version of QEMU included. */
export const snapshotTemplateKey = (
  { image, kept, vcpus, memoryMb }: SnapshotShape,
  host: object,
  version: string,
): string => {
  const facts = [image.name, kept.state.sha256, kept.diskSha256, vcpus, memoryMb, host, version]
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 16)
}

/**
 * Lets the snapshot run for a moment as any sandbox does, by a user of its own, without a network, since its disk may have
 * been written by a guest that has taken its QEMU over; and saves it as the folder `out`, which appears whole or not at all.
 */
export async function buildSnapshotTemplate(
  { image, vcpus, memoryMb, diskGb, kept }: SnapshotShape,
  out: string,
  {
    folder,
    machineId,
    resources,
    snapshots,
    clock,
  }: {
    /** The folder of the machines. */
    folder: string
    /** A new id for the machine. */
    machineId: string
    resources: HostResources
    snapshots: Snapshots
    clock: { now(): Date }
  },
): Promise<{ memory: SealedMemory }> {
  const qemu = sandboxMachineAt(folder, machineId)
  const work = `${out}.building`
  await rm(work, { recursive: true, force: true })
  try {
    await snapshots.check(image.name, kept)
    const around = await resources.surround(qemu, { vcpus, memoryMb, diskGb })
    const files = snapshots.files(image.name)
    await copySparsely(files.disk, qemu.disk)
    await makeMemory(join(qemu.folder, sandboxFiles.memory), memoryMb * MIB, around.user)
    const { session } = await startFromState(
      qemu,
      { vcpus, memoryMb, diskGb },
      files.state,
      around,
      sandboxFiles.memory,
    )
    const builtAt = clock.now()
    let state: Buffer
    try {
      await renew(session, builtAt, { hostname: 'template', machineId: 'template', env: {} })
      await session.call('sync', {}, { timeoutMs: SYNC_MS })
      state = await saveState(qemu.folder, sandboxFiles.monitor, around.user)
    } finally {
      session.close()
    }
    await mkdir(work, { recursive: true, mode: 0o700 })
    for (const name of [sandboxFiles.memory, sandboxFiles.disk])
      await takeFile(join(qemu.folder, name), join(work, name))
    return await finishTemplate(work, out, { image: image.name, vcpus, memoryMb, builtAt }, state)
  } catch (error) {
    throw asSandboxError(error)
  } finally {
    await rm(work, { recursive: true, force: true })
    await resources.remove(qemu)
  }
}

/** Its user may make no files in the folder of a machine. */
async function makeMemory(path: string, bytes: number, user: RunAs | undefined): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.truncate(bytes)
    if (user) await file.chown(user.uid, user.gid)
  } finally {
    await file.close()
  }
}

/** Takes a file out of a folder that the machine could write to: only a plain one, that is nowhere else. */
async function takeFile(from: string, to: string): Promise<void> {
  await rename(from, to)
  const { nlink } = await lstat(to).then((found) => (found.isFile() ? found : { nlink: 0 }))
  if (nlink !== 1) throw new Error(`${from} is no plain file`)
  if (process.getuid?.() === 0) await lchown(to, 0, 0)
}
