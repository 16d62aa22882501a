import { type OsImage, osImages } from '@coinrack/compute/images/catalog.ts'
import type { VpsDriver } from '@coinrack/compute/vps-driver.ts'

export interface OfferedImage extends OsImage {
  /** Machines can be made from it now. */
  ready: boolean
}

/**
 * The operating systems that can be ordered.
 * @param only slugs that a plan is limited to
 */
export async function offeredImages(driver: VpsDriver, only?: readonly string[]): Promise<OfferedImage[]> {
  const states = new Map((await driver.images()).map(({ slug, state }) => [slug, state]))
  return osImages
    .filter(({ slug }) => states.has(slug) && (!only || only.includes(slug)))
    .map((image) => ({ ...image, ready: states.get(image.slug) === 'ready' }))
}
