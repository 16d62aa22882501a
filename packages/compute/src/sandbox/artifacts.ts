import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { oneAtATime } from '@coinrack/host/one-at-a-time.ts'
import type { ImageStore } from '../images/image-store.ts'
import { createImageStore } from '../images/image-store.ts'
import { keepBaseDisk } from '../machine/disk.ts'
import { whileRoomLasts } from '../machine/host-capacity.ts'
import type { ArtifactFile, SandboxArtifacts } from '../ports/sandbox-artifacts.ts'
import { SandboxError } from '../ports/sandbox-runtime.ts'
import {
  type ArtifactKind,
  completeArtifact,
  filesOf,
  namesOf,
  readFileOf,
  receiveFile,
  removeUnfinished,
} from './artifact-folders.ts'
import { asSandboxError } from './failures.ts'
import { sandboxRecipes } from './image/recipes.ts'
import type { KeptSnapshot } from './snapshots.ts'

/** The bytes of a disk file that hold the name of the image it builds on; a longer name is none of ours. */
const HEADER_BYTES = 1024
const QCOW2 = 0x514649fb
/** The image of a machine's disk, as `keepBaseDisk` names it from the machine's folder. */
const BACKING = /^\.\.\/\.\.\/base-images\/(sandbox-[a-z-]{1,40}-[0-9a-f]{16})\.qcow2$/

const imageKind = (cacheFolder: string): ArtifactKind => ({
  folder: join(cacheFolder, 'images'),
  name: /^sandbox-[a-z-]{1,40}-[0-9a-f]{16}$/,
  files: ['vmlinuz', 'initrd.img', 'disk.qcow2'],
  mode: 0o644,
})
const snapshotKind = (dataFolder: string): ArtifactKind => ({
  folder: join(dataFolder, 'sandbox-snapshots'),
  name: /^snp_[0-9a-hjkmnp-tv-z]{26}$/,
  files: ['state', 'disk.qcow2', 'snapshot.json'],
  mode: 0o600,
})

/** The artifacts of this host. What a killed process had not received to its end is removed. */
export async function createArtifacts({
  dataFolder,
  cacheFolder,
}: {
  dataFolder: string
  cacheFolder: string
}): Promise<SandboxArtifacts> {
  const images = imageKind(cacheFolder)
  const snapshots = snapshotKind(dataFolder)
  const alone = oneAtATime()
  for (const kind of [images, snapshots]) await removeUnfinished(kind)

  const kindOf = (id: string): [ArtifactKind, string] => {
    const [kind, name = ''] = id.split(':', 2)
    return [kind === 'image' ? images : snapshots, name]
  }
  const isHere = async (id: string) => {
    const [kind, name] = kindOf(id)
    return (await namesOf(kind)).includes(name)
  }
  const needsOf = async (kind: ArtifactKind, folder: string) =>
    kind === snapshots ? [`image:${await imageBehind(join(folder, 'disk.qcow2'))}`] : []

  return {
    async list() {
      const [own, taken] = await Promise.all([namesOf(images), namesOf(snapshots)])
      return [...own.map((name) => `image:${name}`), ...taken.map((name) => `snapshot:${name}`)]
    },

    async describe(id) {
      const [kind, name] = kindOf(id)
      const files = await filesOf(kind, name)
      return { id, files, needs: await needsOf(kind, join(kind.folder, name)) }
    },

    read: async (id, file) => readFileOf(...kindOf(id), file),

    write: (id, file, source) =>
      alone(id, () => whileRoomLasts(() => receiveFile(...kindOf(id), file, source))).catch((error) => {
        throw asSandboxError(error)
      }),

    complete: (artifact) =>
      alone(artifact.id, async () => {
        if (await isHere(artifact.id)) return
        const [kind, name] = kindOf(artifact.id)
        for (const id of artifact.needs)
          if (!(await isHere(id)))
            throw new SandboxError('artifact_unknown', `It needs ${id}, which is not here`)
        await completeArtifact(kind, name, artifact.files, async (folder) => {
          if (kind === images) return
          const [need] = await needsOf(kind, folder)
          if (!artifact.needs.includes(need!)) throw damaged(`${name} builds on another image`)
          await checkRecord(folder, artifact.files)
          await keepBase(images, need!.slice('image:'.length), dataFolder)
        })
      }),
  }
}

/** The images of sandboxes that this computer builds, for hosts that have none. */
export function createImageArtifacts(cacheFolder: string): Pick<
  SandboxArtifacts,
  'list' | 'describe' | 'read'
> & {
  /** Builds those that are not built yet; takes minutes on a new computer. */
  prepare(onProgress: (line: string) => void): Promise<void>
} {
  const kind = imageKind(cacheFolder)
  const images: ImageStore = createImageStore({ cacheFolder, recipes: sandboxRecipes })
  const nameOf = (id: string) => (id.startsWith('image:') ? id.slice('image:'.length) : '')
  return {
    async prepare(onProgress) {
      for (const slug of sandboxRecipes.slugs) await images.ensure(slug, onProgress)
    },
    async list() {
      const ready = (await images.status()).filter(({ state }) => state === 'ready')
      return Promise.all(ready.map(async ({ slug }) => `image:${(await images.get(slug)).name}`))
    },
    describe: async (id) => ({ id, files: await filesOf(kind, nameOf(id)), needs: [] }),
    read: (id, file) => readFileOf(kind, nameOf(id), file),
  }
}

/** Disks of snapshots name the image by a path, which has to be there when a sandbox is made from one. */
const keepBase = ({ folder }: ArtifactKind, name: string, dataFolder: string) =>
  keepBaseDisk({ name, disk: join(folder, name, 'disk.qcow2'), diskGb: 0 }, join(dataFolder, 'base-images'))

/** The sums in the record of a snapshot are those that it is checked against whenever it is used. */
async function checkRecord(folder: string, files: readonly ArtifactFile[]): Promise<void> {
  const sumIn = (name: string) => files.find((file) => file.name === name)?.sha256
  try {
    const text = await readFile(join(folder, 'snapshot.json'), 'utf8')
    const { size, state, diskSha256 } = JSON.parse(text) as KeptSnapshot
    const numbers = [size.vcpus, size.memoryMb, size.diskGb, state.bytes]
    if (
      numbers.every(Number.isFinite) &&
      state.sha256 === sumIn('state') &&
      diskSha256 === sumIn('disk.qcow2')
    )
      return
  } catch {
    // Refused below.
  }
  throw damaged('The record of a snapshot does not fit its files')
}

/**
 * The image that a disk file builds on, by its header. No program reads the file for it: what a guest wrote there could
 * name any file of the host.
 * Source: QEMU, docs/interop/qcow2.txt
 */
async function imageBehind(disk: string): Promise<string> {
  const handle = await open(disk)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0)
    const header = buffer.subarray(0, bytesRead)
    if (header.length < 24 || header.readUInt32BE(0) !== QCOW2) throw damaged('A disk is none')
    const offset = Number(header.readBigUInt64BE(8))
    const size = header.readUInt32BE(16)
    const name = header.subarray(offset, offset + size).toString()
    const image = BACKING.exec(name)?.[1]
    if (image === undefined) throw damaged('A disk builds on no image of ours')
    return image
  } finally {
    await handle.close()
  }
}

const damaged = (message: string) => new SandboxError('artifact_damaged', message)
