import type { Handler } from '../../dispatch/handler.ts'
import { webhooksOf } from './webhook-store.ts'
import { webhookView } from './webhook-view.ts'

export const listWebhooks: Handler<'listWebhooks'> = async ({ caller, db }) => ({
  items: (await webhooksOf(db, caller.accountId)).map(webhookView),
})
