import type { ImageStatus } from '../ports/vps-driver.ts'
import { addedDisk, listAddedImages } from './added/added-store.ts'
import type { ImageStore } from './image-store.ts'

/** The disk image that the disk of a machine is made over. */
export interface DiskImage {
  /** Names the content for ever. */
  name: string
  disk: string
  /** No disk can be smaller. */
  diskGb: number
  /** The first sector of one that was built here, whose partition grows with the disk; of others nothing is assumed. */
  mbr?: string
}

/** An image that was built here: it makes itself a machine by our seed, and can be cloned. */
export interface OwnImage extends DiskImage {
  mbr: string
}

export const isOwn = (image: DiskImage): image is OwnImage => image.mbr !== undefined

export interface DiskImages {
  /** Throws DriverError `image_unknown`, `image_not_ready`. */
  get(slug: string): Promise<DiskImage>
  status(): Promise<ImageStatus[]>
}

/** All that machines can be made from: images built here, and those that the operator added to `addedImages`. */
export function diskImages(built: ImageStore, addedImages: string): DiskImages {
  return {
    async get(slug) {
      const added = (await listAddedImages(addedImages)).find((image) => image.slug === slug)
      if (added) return { name: added.content, disk: addedDisk(addedImages, added), diskGb: added.diskGb }
      return built.get(slug)
    },

    async status() {
      const added = await listAddedImages(addedImages)
      return [
        ...(await built.status()),
        ...added.map(
          ({ slug, osId, name, distribution, version, arch, diskGb }): ImageStatus => ({
            slug,
            // There whole, or not at all.
            state: 'ready',
            added: { slug, osId, name, distribution, version, arch, diskGb },
          }),
        ),
      ]
    },
  }
}
