import type { Handler } from '../handler.ts'

export const listPlans: Handler<'listPlans'> = async ({ services }) => ({
  items: await services.offer(services),
})
