import type { Handler } from '../../dispatch/handler.ts'
import { pageOf } from '../../dispatch/paging.ts'
import { deliveriesOf } from './webhook-store.ts'

export const listWebhookDeliveries: Handler<'listWebhookDeliveries'> = async ({ input, db }) => {
  const { limit, cursor, status } = input
  const page = { limit: limit + 1, before: cursor, status }
  return pageOf(await deliveriesOf(db, input.webhook_id, page), limit, (row) => ({
    id: row.id,
    event_id: row.event_id,
    type: row.type,
    status: row.status,
    attempts: row.attempts,
    next_attempt_at: row.status === 'pending' ? row.next_at : null,
    last_status: row.last_status,
    last_error: row.last_error,
    created_at: row.created_at,
  }))
}
