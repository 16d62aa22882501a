import { open, readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type AddedImage, ImageRefusedError } from './added-image.ts'
import { changeAddedImages, dropImage, hideImage, listAddedImages, showImage } from './added-store.ts'

export interface RemoveImageOptions {
  /** Where added images are kept. */
  folder: string
  /** Where the disks lie that machines grew from. */
  baseImages: string
  /** Where disks lie that may have grown from them: machines', and any that are kept. */
  overlays: string[]
  /** The users of the image, in words. Asked when no new one can come. */
  usedBy: (image: AddedImage) => Promise<string[]>
}

/**
 * Takes back an image that was added, with all its files.
 * @throws ImageRefusedError when there is no such image, or it is still needed
 */
export function removeImage(slug: string, options: RemoveImageOptions): Promise<AddedImage> {
  const { folder, usedBy } = options
  return changeAddedImages(folder, async () => {
    const image = (await listAddedImages(folder)).find((candidate) => candidate.slug === slug)
    if (!image) throw new ImageRefusedError(`No image ${slug} was added here`)
    await hideImage(folder, slug)
    const users = await usedBy(image).catch(async (error: Error) => {
      await showImage(folder, slug)
      throw error
    })
    if (users.length > 0) {
      await showImage(folder, slug)
      throw new ImageRefusedError(`${slug} is in use: ${users.join('; ')}`)
    }
    await dropImage(folder, image)
    await dropBaseDisks(slug, options)
    return image
  })
}

/** Drops what older and newer versions of the image left for machines, unless some disk still builds on it. */
async function dropBaseDisks(slug: string, { baseImages, overlays }: RemoveImageOptions): Promise<void> {
  const version = new RegExp(`^${slug}-[0-9a-f]{16}\\.qcow2$`)
  const versions = (await filesIn(baseImages)).filter((file) => version.test(basename(file)))
  if (versions.length === 0) return
  const disks = (await Promise.all(overlays.map(filesIn))).flat().filter((file) => file.endsWith('.qcow2'))
  const used = new Set((await Promise.all(disks.map(backingOf))).map((path) => path && basename(path)))
  for (const file of versions) if (!used.has(basename(file))) await rm(file, { force: true })
}

/** The file that a qcow2 disk builds on, as its header names it. */
async function backingOf(disk: string): Promise<string | undefined> {
  const file = await open(disk)
  try {
    const { buffer } = await file.read(Buffer.alloc(20), 0, 20, 0)
    const length = buffer.readUInt32BE(16)
    if (buffer.toString('latin1', 0, 4) !== 'QFI\xfb' || length === 0 || length > 1023) return undefined
    const path = await file.read(Buffer.alloc(length), 0, length, Number(buffer.readBigUInt64BE(8)))
    return path.buffer.toString('utf8')
  } finally {
    await file.close()
  }
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    },
  )
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}
