import type { Handler } from '../../dispatch/handler.ts'
import { recordEvent } from '../../platform/record-event.ts'

export const testWebhook: Handler<'testWebhook'> = async ({ input, caller, db, services }) => {
  const { webhook_id } = input
  const event_id = await recordEvent(db, services, caller.accountId, 'webhook.test', { webhook_id })
  return { webhook_id, event_id }
}
