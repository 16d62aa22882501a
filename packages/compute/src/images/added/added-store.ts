import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { lockFile } from '@coinrack/host/file-lock.ts'
import { type AddedImage, ImageRefusedError } from './added-image.ts'

/*
 * Images that were added lie flat in one folder: `<slug>.json` says what there is, `<content>.qcow2` is the disk that it
 * names. The record is written last and removed first, so an image is there whole or not at all, whatever is killed.
 */

const RECORD = /^([a-z0-9][a-z0-9-]*)\.json$/
/** A record that is being removed: gone for everybody else, and put back when it may not go. */
const HIDDEN = '.hidden'

export const addedDisk = (folder: string, { content }: Pick<AddedImage, 'content'>) =>
  join(folder, `${content}.qcow2`)

const recordFile = (folder: string, slug: string) => join(folder, `${slug}.json`)

/** By number, which is the order in which they were added. */
export async function listAddedImages(folder: string): Promise<AddedImage[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const records = await Promise.all(
    names
      .filter((name) => RECORD.test(name))
      .map((name) =>
        readFile(join(folder, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT') return undefined
          throw error
        }),
      ),
  )
  return records
    .flatMap((text) => (text === undefined ? [] : [JSON.parse(text) as AddedImage]))
    .sort((a, b) => a.osId - b.osId)
}

/**
 * Lets one process at a time change the folder, which is made, and first clears away what a killed one left.
 * @throws ImageRefusedError while another one is at it
 */
export async function changeAddedImages<T>(folder: string, work: () => Promise<T>): Promise<T> {
  await mkdir(folder, { recursive: true, mode: 0o755 })
  const { lock, ...held } = await lockFile(join(folder, 'change.pid'))
  if (!lock) {
    const holder = 'heldBy' in held && held.heldBy ? `Process ${held.heldBy}` : 'Another process'
    throw new ImageRefusedError(`${holder} is adding or removing an image: wait for it to end`)
  }
  try {
    await clearAway(folder)
    return await work()
  } finally {
    await lock.release()
  }
}

async function clearAway(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.endsWith(HIDDEN)) await rename(join(folder, name), join(folder, name.slice(0, -HIDDEN.length)))
  }
  const images = await listAddedImages(folder)
  const wanted = new Set([
    'change.pid',
    ...images.flatMap((image) => [`${image.slug}.json`, `${image.content}.qcow2`]),
  ])
  for (const name of await readdir(folder)) {
    if (!wanted.has(name)) await rm(join(folder, name), { recursive: true })
  }
}

/** Lets everybody see the image, whose disk is there already. */
export async function publishImage(folder: string, image: AddedImage): Promise<void> {
  const file = recordFile(folder, image.slug)
  const handle = await open(`${file}.part`, 'w', 0o644)
  await handle.writeFile(`${JSON.stringify(image, null, 2)}\n`)
  await handle.sync()
  await handle.close()
  await rename(`${file}.part`, file)
  await syncFolder(folder)
}

/** Hides the image from every search; `showImage` takes that back. */
export const hideImage = (folder: string, slug: string) =>
  rename(recordFile(folder, slug), `${recordFile(folder, slug)}${HIDDEN}`)

export const showImage = (folder: string, slug: string) =>
  rename(`${recordFile(folder, slug)}${HIDDEN}`, recordFile(folder, slug))

/** Deletes a hidden image for good. */
export async function dropImage(folder: string, image: AddedImage): Promise<void> {
  await rm(`${recordFile(folder, image.slug)}${HIDDEN}`)
  await syncFolder(folder)
  await rm(addedDisk(folder, image), { force: true })
}

/** Also the names in a folder have to reach the disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  await handle.sync()
  await handle.close()
}
