import { osImages } from '@coinrack/compute/images/catalog.ts'
import type { ImageStatus, OsImage } from '@coinrack/compute/ports/vps-driver.ts'

export interface OfferedImage extends OsImage {
  /** Machines can be made from it now. */
  ready: boolean
}

/** The limits on the images of a plan: those that it names, and the size of its disk. */
export interface ImageLimits {
  images?: readonly string[]
  disk_gb: number
}

/**
 * The operating systems that can be ordered: those that are built here, then those that the operator added.
 * @param statuses as the driver says them
 */
export function offeredAmong(statuses: readonly ImageStatus[], limits?: ImageLimits): OfferedImage[] {
  const states = new Map(statuses.map(({ slug, state }) => [slug, state]))
  const added = statuses.flatMap((status) => status.added ?? [])
  const fitting = added.filter(({ diskGb }) => !limits || diskGb <= limits.disk_gb)
  return [...osImages, ...fitting]
    .filter(({ slug }) => states.has(slug) && (limits?.images?.includes(slug) ?? true))
    .map((image) => ({ ...image, ready: states.get(image.slug) === 'ready' }))
}
