import type { ImageStatus } from '@coinrack/compute/ports/vps-driver.ts'
import { formatUsd } from '@coinrack/contract/wire.ts'
import type { Call } from '../../dispatch/handler.ts'
import { regionsOf } from '../../platform/machine-host.ts'
import { offeredAmong } from '../../platform/os-images.ts'

type OrderCall = Call<'orderVps'>
type Asked = Pick<OrderCall, 'services' | 'fail'> & {
  input: Pick<OrderCall['input'], 'product' | 'region' | 'os_id' | 'max_price'>
}
export type CatalogPlan = OrderCall['services']['catalog']['plans'][number]

export function checkPlan({ input, services, fail }: Asked): CatalogPlan {
  const plan = services.catalog.plans.find(({ slug }) => slug === input.product)
  const isHere = input.region === undefined || regionsOf(services).includes(input.region)
  if (plan && isHere) return plan
  const where = plan ? ` in region ${input.region}` : ''
  throw fail('unknown_product', `There is no plan ${input.product}${where}`)
}

export function checkImage({ input, fail }: Asked, plan: CatalogPlan, images: readonly ImageStatus[]): void {
  if (offeredAmong(images, plan).some(({ osId }) => osId === input.os_id)) return
  throw fail('os_not_supported', `Plan ${plan.slug} has no OS image ${input.os_id}`)
}

/** @param total as it would be charged, in micro-USD */
export function checkPrice({ input, fail }: Asked, total: bigint): void {
  if (input.max_price === undefined || total <= input.max_price) return
  throw fail(
    'price_above_maximum',
    `The order costs ${formatUsd(total)} USD, above the maximum of ${formatUsd(input.max_price)} USD`,
    { fields: { price: formatUsd(total) } },
  )
}
