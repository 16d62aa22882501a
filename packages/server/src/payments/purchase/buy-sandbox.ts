import { operations } from '@coinrack/contract/index.ts'
import type { PaidHandler } from '../../dispatch/handler.ts'
import { purchase } from './purchase.ts'

export const buySandbox: PaidHandler<'buySandbox'> = (call) => {
  const { services, input } = call
  return purchase(call, {
    url: services.config.publicUrl + operations.buySandbox.path,
    description: `A sandbox for ${input.timeout} s`,
    price: (db) => services.sandboxing.priceOfSandbox(services, db, input),
    handler: services.sandboxing.createSandbox,
    input,
    begunBy: ({ id }) => ({ order_id: null, sandbox_id: id }),
    show: (db, of, { sandbox_id }) => of.sandboxing.startedSandbox(db, of, sandbox_id!),
  })
}
