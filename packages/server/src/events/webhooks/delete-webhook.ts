import type { Handler } from '../../dispatch/handler.ts'
import { deleteWebhookRow } from './webhook-store.ts'

export const deleteWebhook: Handler<'deleteWebhook'> = async ({ input, db, services }) => {
  await deleteWebhookRow(db, input.webhook_id, services.clock.now())
  return { id: input.webhook_id, deleted: true }
}
