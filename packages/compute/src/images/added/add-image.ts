import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, chown, mkdir, open, rename, rm, statfs } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { RunAs } from '@coinrack/host/as-user.ts'
import { osImages } from '../catalog.ts'
import { type AddedImage, ImageRefusedError, type ImageSource } from './added-image.ts'
import { addedDisk, changeAddedImages, listAddedImages, publishImage, syncFolder } from './added-store.ts'
import { checkClearSigned, checkDetached } from './check-signature.ts'
import { type DownloadOptions, download, downloadFolder, readSource } from './download.ts'
import { type DiskFormat, type InspectedDisk, inspectDisk, rewriteDisk } from './inspect-disk.ts'
import { type Digest, digestOf } from './read-checksums.ts'

export interface AddImageOptions {
  /** Where added images are kept. */
  folder: string
  /** Where downloads in the making are kept; may be emptied at any time. */
  downloads: string
  /** The user who inspects untrusted disks; needed when the caller is root. */
  reader: RunAs | undefined
  clock: { now(): Date }
  /** A number that no image had before. */
  newOsId: () => Promise<number>
  say: (line: string) => void
  /** How long failures of the server are borne. */
  patience?: Pick<DownloadOptions, 'idleMs' | 'pauseMs'>
}

export interface ImageWish {
  slug: string
  name: string
  source: ImageSource
}

const SLUG = /^(?=.{2,40}$)[a-z][a-z0-9]*(-[a-z0-9]+)*$/
const NAME = /^[\x20-\x7e]{1,60}$/
const GIB = 1024 ** 3
const KEEP_FREE_BYTES = GIB

/**
 * Downloads an image, proves it and makes it one that machines can be made from. It appears whole or not at all. With
 * the slug of an image that was added before it takes that one's place, number included; machines keep theirs.
 * @throws ImageRefusedError when it proves to be not what the publisher made, or nothing to make machines from
 */
export async function addImage(wish: ImageWish, options: AddImageOptions): Promise<AddedImage> {
  checkWish(wish)
  const { slug, name, source } = wish
  const { folder, downloads, reader, say, clock } = options
  return changeAddedImages(folder, async () => {
    const { file, digest, signedBy, format, virtualBytes } = await fetchProved(source, options)
    const before = (await listAddedImages(folder)).find((image) => image.slug === slug)
    const image: AddedImage = {
      slug,
      osId: before?.osId ?? (await options.newOsId()),
      name,
      ...versionOf(slug),
      arch: 'x86_64',
      content: `${slug}-${createHash('sha256').update(digest).digest('hex').slice(0, 16)}`,
      diskGb: Math.ceil(virtualBytes / GIB),
      url: source.url,
      digest,
      signedBy,
      addedAt: clock.now().toISOString(),
    }
    const isNew = before?.content !== image.content
    if (isNew) {
      say('writing the disk')
      await keepDisk(file, addedDisk(folder, image), { folder, format, reader })
    }
    await publishImage(folder, image)
    if (before && isNew) await rm(addedDisk(folder, before), { force: true })
    await rm(downloadFolder(downloads, source.url), { recursive: true })
    return image
  })
}

function checkWish({ slug, name, source }: ImageWish): void {
  const { url, checksums, signature, key } = source
  const rules: [isFine: boolean, problem: string][] = [
    [SLUG.test(slug), `${slug} is no id of an image: small letters, digits and single dashes, at most 40`],
    [!osImages.some((image) => image.slug === slug), `${slug} is built here: choose another id`],
    [NAME.test(name), 'The name has to be 1 to 60 printable ASCII characters'],
    [URL.canParse(url) && /^https?:$/.test(new URL(url).protocol), `${url} is no https address`],
    [
      checksums !== undefined || signature !== undefined,
      'Name what proves the image: --checksums, --signature or both',
    ],
    [
      key === undefined || !key.includes('://'),
      "The publisher's key has to be a file: one that comes along with the image proves nothing",
    ],
    [
      signature === undefined || key !== undefined,
      "A signature proves nothing without the publisher's key: name it with --key",
    ],
  ]
  const broken = rules.find(([isFine]) => !isFine)
  if (broken) throw new ImageRefusedError(broken[1])
}

/** `ubuntu-24-04` is version 24.04 of ubuntu; a slug without a version rolls on for ever. */
export function versionOf(slug: string): Pick<AddedImage, 'distribution' | 'version'> {
  const [distribution, ...rest] = slug.split('-')
  return { distribution: distribution!, version: rest.join('.') || 'rolling' }
}

interface Proved extends InspectedDisk {
  file: string
  digest: string
  signedBy: string | null
}

/** The proof comes first: a download that nothing can prove is not begun. */
async function fetchProved(source: ImageSource, options: AddImageOptions): Promise<Proved> {
  const { url, checksums, signature, key } = source
  const { downloads, say, patience } = options
  const plain = { mayBePlain: key !== undefined, ...patience }
  const keyring = key === undefined ? undefined : await readSource(key, plain)
  const signatureBytes = signature === undefined ? undefined : await readSource(signature, plain)
  const listed =
    checksums === undefined
      ? undefined
      : await checkList(await readSource(checksums, plain), signatureBytes, keyring)
  if (listed?.signedBy) say(`the checksums are signed by ${listed.signedBy}`)
  const expected = listed && digestOf(listed.text, fileNameOf(url))

  const file = await download(url, downloads, { ...plain, onProgress: say })
  say('checking what came')
  const { algorithm } = expected ?? { algorithm: 'sha256' as const }
  const hex = await hashFile(file, algorithm)
  try {
    if (expected && hex !== expected.hex)
      throw new ImageRefusedError(
        `What came has the ${algorithm} ${hex}, the publisher says ${expected.hex}: it is deleted, and the next try starts anew`,
      )
    const signedBy = listed ? listed.signedBy : await checkDetached(file, signatureBytes!, keyring!)
    if (!listed) say(`the image is signed by ${signedBy}`)
    return { file, digest: `${algorithm}:${hex}`, signedBy, ...(await inspectDisk(file, options.reader)) }
  } catch (error) {
    if (error instanceof ImageRefusedError) await rm(downloadFolder(downloads, url), { recursive: true })
    throw error
  }
}

/** The text of a list of checksums, and who signed it. */
async function checkList(
  list: Buffer,
  signature: Buffer | undefined,
  keyring: Buffer | undefined,
): Promise<{ text: string; signedBy: string | null }> {
  if (!keyring) return { text: list.toString('utf8'), signedBy: null }
  if (!signature) return checkClearSigned(list, keyring)
  return { text: list.toString('utf8'), signedBy: await checkDetached(list, signature, keyring) }
}

const fileNameOf = (url: string) => decodeURIComponent(basename(new URL(url).pathname))

async function hashFile(file: string, algorithm: Digest['algorithm']): Promise<string> {
  const hash = createHash(algorithm)
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

/** Rewrites the disk in a folder of the reader's own, and puts it where only its name is missing. */
async function keepDisk(
  file: string,
  to: string,
  { folder, format, reader }: { folder: string; format: DiskFormat; reader: RunAs | undefined },
): Promise<void> {
  const staging = join(folder, 'staging')
  await mkdir(staging, { mode: 0o700 })
  if (reader) await chown(staging, reader.uid, reader.gid)
  const made = join(staging, 'disk.qcow2')
  const { bavail, bsize } = await statfs(folder)
  const mostBytes = bavail * bsize - KEEP_FREE_BYTES
  if (mostBytes <= 0) throw new ImageRefusedError(`Less than 1 GiB is free under ${folder}`)
  await rewriteDisk(file, made, { format, mostBytes, reader })
  if (reader) await chown(made, 0, 0)
  await chmod(made, 0o644)
  const handle = await open(made)
  await handle.sync()
  await handle.close()
  await rename(made, to)
  await rm(staging, { recursive: true })
  await syncFolder(folder)
}
