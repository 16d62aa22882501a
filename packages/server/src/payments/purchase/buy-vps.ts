import { operations } from '@coinrack/contract/index.ts'
import type { PaidHandler } from '../../dispatch/handler.ts'
import { purchase } from './purchase.ts'

export const buyVps: PaidHandler<'buyVps'> = (call) => {
  const { services, fail, input } = call
  if (input.dry_run) fail('invalid_input', 'Leave dry_run out: the 402 says the price, and nothing is bought')
  const { hours: _paidInAdvance, ...wanted } = input
  return purchase(call, {
    url: services.config.publicUrl + operations.buyVps.path,
    description: `VPS ${input.product}`,
    price: (db) => services.ordering.priceOfOrder(services, db, input),
    handler: services.ordering.orderVps,
    input: { ...wanted, create_invoice: false },
    begunBy: ({ id }) => ({ order_id: id, sandbox_id: null }),
    show: (db, of, { order_id }) => of.ordering.placedOrder(db, of, order_id!),
  })
}
