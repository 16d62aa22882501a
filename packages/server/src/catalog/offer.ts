import { hostImages } from '../hosts/host-images.ts'
import { offerNow } from '../hosts/place-machine.ts'
import { regionsOf } from '../platform/machine-host.ts'
import { offeredAmong } from '../platform/os-images.ts'
import type { Services } from '../platform/services.ts'
import type { OfferedPlan } from '../platform/slice-ports.ts'

/** How old an offer may be that is shown. An order looks for itself. */
export const OFFER_MS = 1_000

/** Every plan, with whether there is room for one more, and the images and features that it can have: as it is written down of the hosts. */
export async function readOffer(services: Services): Promise<OfferedPlan[]> {
  const { catalog, db } = services
  const [now, statuses] = await Promise.all([offerNow(db, services), hostImages(db)])
  const regions = regionsOf(services)
  return catalog.plans.map(({ images, ...plan }) => {
    const offered = offeredAmong(statuses, { images, disk_gb: plan.disk_gb })
    return {
      ...plan,
      currency: 'USD' as const,
      regions,
      features: Object.fromEntries(regions.map((region) => [region, now.featuresIn(region, plan)])),
      available: now.hasRoom(plan) && offered.some(({ ready }) => ready),
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
