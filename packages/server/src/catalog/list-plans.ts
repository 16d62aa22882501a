import type { Handler } from '../handler.ts'
import { offeredImages } from '../os-images.ts'

export const listPlans: Handler<'listPlans'> = async ({ services }) => {
  const { catalog, driver, ordering } = services
  const fits = await ordering.roomFor(services)
  const items = await Promise.all(
    catalog.plans.map(async ({ images, ...plan }) => {
      const offered = await offeredImages(driver, { images, disk_gb: plan.disk_gb })
      return {
        ...plan,
        currency: 'USD' as const,
        regions: [catalog.region],
        available: fits(plan) && offered.some(({ ready }) => ready),
        os_images: offered.map((image) => ({
          os_id: image.osId,
          name: image.name,
          distribution: image.distribution,
          version: image.version,
          arch: image.arch,
          available: image.ready,
        })),
      }
    }),
  )
  return { items }
}
