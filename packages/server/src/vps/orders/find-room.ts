import type { Queryable, Transaction } from '../../database/transaction.ts'
import { hostImages } from '../../hosts/host-images.ts'
import { findRoom, type Placed, placeMachine, type Wanted } from '../../hosts/place-machine.ts'
import { offeredAmong } from '../../platform/os-images.ts'
import type { Services } from '../../platform/services.ts'
import { noPlace, noRoom } from './capacity.ts'
import type { OrderRow } from './order-store.ts'

type Ordered = Pick<OrderRow, 'product' | 'os_id' | 'region'>

/**
 * The start of an order: its plan, its image and the place of its machine, whose host is locked until the transaction
 * ends.
 * @throws OperationError `capacity` when no machine can be placed now
 */
export async function takeRoom(tx: Transaction, services: Services, order: Ordered) {
  const { plan, image, wanted } = await chooseSystem(tx, services, order)
  return { plan, image, ...demandPlace(await placeMachine(tx, services, wanted)) }
}

/**
 * The same for a caller that only asks, before money is asked for: nothing is locked.
 * @throws OperationError `capacity`
 */
export async function demandRoom(db: Queryable, services: Services, order: Ordered): Promise<void> {
  const { wanted } = await chooseSystem(db, services, order)
  demandPlace(await findRoom(db, services, wanted))
}

async function chooseSystem(db: Queryable, services: Services, order: Ordered) {
  const plan = services.catalog.plans.find(({ slug }) => slug === order.product)
  const image = offeredAmong(await hostImages(db)).find(({ osId }) => osId === order.os_id)
  if (!plan || !image) throw noRoom('This plan or image is no longer offered')
  if (!image.ready) throw noRoom(`The image ${image.name} is still being made ready`)
  const { memory_mb, disk_gb, network } = plan
  const wanted: Wanted = { memory_mb, disk_gb, network, image: image.slug, region: order.region ?? undefined }
  return { plan, image, wanted }
}

function demandPlace(found: Awaited<ReturnType<typeof findRoom>>): Placed {
  if (typeof found === 'string') throw noPlace(found)
  return found
}
