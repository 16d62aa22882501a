import { offeredAmong } from '../platform/os-images.ts'
import type { OfferedPlan } from '../platform/seams.ts'
import type { Services } from '../platform/services.ts'

/** How old an offer may be that is shown. An order looks for itself. */
export const OFFER_MS = 1_000

/** Every plan, with whether there is room for one more and which images it can have: asks driver, disk and database. */
export async function readOffer(services: Services): Promise<OfferedPlan[]> {
  const { catalog, driver, ordering } = services
  const [fits, statuses] = await Promise.all([ordering.roomFor(services), driver.images()])
  return catalog.plans.map(({ images, ...plan }) => {
    const offered = offeredAmong(statuses, { images, disk_gb: plan.disk_gb })
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
  })
}
