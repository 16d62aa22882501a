import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { oneAtATime } from '@coinrack/host/one-at-a-time.ts'
import type { ImageStore } from '../images/image-store.ts'
import { makeTar, tarHeader } from '../personality/tar.ts'
import { DriverError, type ImageStatus } from '../ports/vps-driver.ts'
import { type IncusClient, IncusError } from './client.ts'

/*
 * The images of the catalog in a cluster: each is built once, where the service runs, and imported once. The image of
 * Incus is a tar of what it is and of its disk, and is known by the sum of that tar, which is the same each time.
 */

const BLOCK = 512
const IMPORT_MS = 30 * 60_000
/** Part of the sum: it must not change. Incus takes a zero for none. */
const CREATED = new Date(1_000)

export interface ClusterImages {
  /** Imports the image unless it is there; builds it first if need be. */
  import(slug: string, onProgress?: (line: string) => void): Promise<void>
  /** The fingerprint of an image that is there. Throws DriverError `image_unknown`, `image_not_ready`. */
  fingerprintOf(slug: string): Promise<string>
  status(): Promise<ImageStatus[]>
}

/** @param store where images are built */
export function createClusterImages(client: IncusClient, store: ImageStore): ClusterImages {
  const imports = oneAtATime()
  const known = new Map<string, { disk: string; fingerprint: string }>()

  const isThere = async (fingerprint: string) => {
    const { value } = await client.get<string[]>('/1.0/images')
    return value.some((path) => path.endsWith(`/${fingerprint}`))
  }

  /** The sum is of half a gigabyte: it is taken once for each built image. */
  const fingerprint = async (slug: string): Promise<string> => {
    const { disk } = await store.get(slug)
    const before = known.get(slug)
    if (before?.disk === disk) return before.fingerprint
    const sum = createHash('sha256')
    await pipeline(imageTar(slug, disk), sum)
    const taken = sum.digest('hex')
    known.set(slug, { disk, fingerprint: taken })
    return taken
  }

  return {
    import: (slug, onProgress) =>
      imports(slug, async () => {
        const { disk } = await store.ensure(slug, onProgress)
        const sum = await fingerprint(slug)
        if (await isThere(sum)) return
        onProgress?.(`${slug}: importing it into the cluster`)
        await client
          .change('POST', '/1.0/images', {
            body: imageTar(slug, disk),
            headers: { 'X-Incus-filename': `${slug}.tar` },
            timeoutMs: IMPORT_MS,
            operationMs: IMPORT_MS,
          })
          .catch((error) => {
            // Another process was quicker.
            if (!(error instanceof IncusError && /already exists/.test(error.message))) throw error
          })
      }),

    async fingerprintOf(slug) {
      const sum = await fingerprint(slug)
      if (!(await isThere(sum)))
        throw new DriverError('image_not_ready', `Image ${slug} is not imported into the cluster yet`)
      return sum
    },

    async status() {
      const [built, { value }] = await Promise.all([store.status(), client.get<string[]>('/1.0/images')])
      return Promise.all(
        built.map(async (image): Promise<ImageStatus> => {
          if (image.state !== 'ready') return image
          const sum = await fingerprint(image.slug)
          if (value.some((path) => path.endsWith(`/${sum}`))) return image
          return { ...image, state: 'building', detail: 'importing it into the cluster' }
        }),
      )
    },
  }
}

/** The one tar that Incus imports: https://linuxcontainers.org/incus/docs/main/reference/image_format/ */
async function* imageTar(slug: string, disk: string): AsyncGenerator<Buffer> {
  const { size } = await stat(disk)
  const metadata = JSON.stringify({
    architecture: 'x86_64',
    creation_date: CREATED.getTime() / 1000,
    properties: { description: `Coinrack ${slug}`, os: slug },
  })
  // Without the two empty blocks that end an archive: the disk follows.
  const first = makeTar([{ path: 'metadata.yaml', mode: 0o644, content: metadata }], {
    mtime: CREATED,
    size: BLOCK,
  })
  yield first.subarray(0, first.length - 2 * BLOCK)
  yield tarHeader({ path: 'rootfs.img', mode: 0o644 }, size, CREATED)
  yield* createReadStream(disk, { highWaterMark: 1024 ** 2 })
  yield Buffer.alloc(((BLOCK - (size % BLOCK)) % BLOCK) + 2 * BLOCK)
}
