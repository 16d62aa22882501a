import type { Queryable } from '../../database/transaction.ts'
import type { HostFacts } from '../../platform/host-facts.ts'
import { offeredAmong } from '../../platform/os-images.ts'
import type { Services } from '../../platform/services.ts'
import { fits, freeShare, noRoom } from './capacity.ts'
import type { OrderRow } from './order-store.ts'
import { findPlace } from './take-place.ts'

/**
 * What an order begins with: its plan, its image and a place for its machine. Whoever takes the place holds the
 * placement lock; without it the answer tells only whether it is worth asking for money.
 * @throws OperationError `capacity` when no machine can be placed now
 */
export async function findRoom(
  db: Queryable,
  services: Services,
  host: HostFacts,
  order: Pick<OrderRow, 'product' | 'os_id'>,
) {
  const plan = services.catalog.plans.find(({ slug }) => slug === order.product)
  const image = offeredAmong(host.images).find(({ osId }) => osId === order.os_id)
  if (!plan || !image) throw noRoom('This plan or image is no longer offered')
  if (!image.ready) throw noRoom(`The image ${image.name} is still being made ready`)
  if (!fits(plan, await freeShare(db, services, host)))
    throw noRoom('There is no room for a machine of this plan')
  return { plan, image, place: await findPlace(db, services, host.ports, plan.network) }
}
