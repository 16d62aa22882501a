import { announce } from '../../database/changes.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { DELIVER_WEBHOOKS } from './deliver-webhooks.ts'
import { replayDeliveries } from './webhook-store.ts'

export const replayWebhook: Handler<'replayWebhook'> = async ({ input, db, services }) => {
  const { webhook_id, delivery_id } = input
  const replayed = await replayDeliveries(db, webhook_id, delivery_id, services.clock.now())
  await announce(db, DELIVER_WEBHOOKS)
  return { webhook_id, replayed }
}
