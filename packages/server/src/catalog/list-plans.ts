import type { Handler } from '../dispatch/handler.ts'

export const listPlans: Handler<'listPlans'> = async ({ services }) => ({
  items: await services.offer(services),
})
