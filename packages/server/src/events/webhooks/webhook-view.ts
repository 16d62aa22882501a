import type { WebhookRow } from './webhook-store.ts'

/** A webhook as its owner sees it. */
export const webhookView = (row: WebhookRow) => ({
  id: row.id,
  url: row.url,
  types: row.types,
  enabled: row.disabled_at === null,
  created_at: row.created_at,
})
