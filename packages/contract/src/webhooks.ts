import { z } from 'zod'
import { type EventType, eventTypes } from './events.ts'
import { exampleWebhook } from './examples.ts'
import { Id } from './ids.ts'
import { listOperation, operation } from './operation.ts'
import { paging, Timestamp } from './wire.ts'

export const Webhook = z.object({
  id: Id('webhook'),
  url: z.string(),
  types: z.array(z.string()).nullable().describe('Null: all'),
  enabled: z.boolean().describe('False after its receiver answered 410'),
  created_at: Timestamp,
})

export const Delivery = z.object({
  id: Id('delivery'),
  event_id: Id('event'),
  type: z.string(),
  status: z.enum(['pending', 'delivered', 'dead']),
  attempts: z.number().int(),
  next_attempt_at: Timestamp.nullable(),
  last_status: z.number().int().nullable().describe('HTTP status of the last answer'),
  last_error: z.string().nullable(),
  created_at: Timestamp,
})

const webhook = { webhook_id: Id('webhook') }
const example = { webhook_id: 'whk_01kabcdefghjkmnpqrstvwxyz0' }
const names = Object.keys(eventTypes) as [EventType, ...EventType[]]
const seeDeliveries = (answer: Record<string, unknown>) => [
  {
    tool: 'list_webhook_deliveries',
    why: 'See what became of it',
    arguments: { webhook_id: answer.webhook_id },
  },
]

export const webhooks = {
  createWebhook: operation({
    closedTo: ['program'],
    method: 'POST',
    path: '/webhooks',
    summary: 'Create a webhook',
    description:
      'Creates a webhook: each event is sent to its URL as a POST of JSON, signed as in Standard Webhooks with the secret of this answer, which is shown once. A delivery is repeated with growing pauses until a 2xx answer, with the same webhook-id each time.',
    access: 'account',
    rate: 'default',
    effect: 'write',
    idempotent: false,
    input: z.strictObject({
      url: z.string().max(2048),
      types: z.array(z.enum(names)).min(1).max(names.length).optional().describe('Default: all'),
    }),
    output: z.object({ webhook: Webhook, secret: z.string().describe('whsec_...; keep it') }),
    errors: ['webhook_url_refused', 'webhook_limit'],
    example: { url: exampleWebhook, types: ['vps.ssh_ready'] },
    next: (answer) => [
      {
        tool: 'test_webhook',
        why: 'Have an event sent to it now',
        arguments: { webhook_id: (answer.webhook as { id?: string } | undefined)?.id },
      },
    ],
  }),
  listWebhooks: listOperation({
    method: 'GET',
    path: '/webhooks',
    summary: 'List webhooks',
    description: 'Lists your webhooks without their secrets, newest first.',
    access: 'read',
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({}),
    output: Webhook,
    errors: [],
    example: {},
  }),
  deleteWebhook: operation({
    method: 'DELETE',
    path: '/webhooks/{id}',
    summary: 'Delete a webhook',
    description:
      'Deletes a webhook for good. Nothing is sent to it from then on, not even deliveries that were to be repeated.',
    access: 'account',
    rate: 'default',
    resource: 'webhook',
    effect: 'destructive',
    idempotent: true,
    input: z.strictObject({ ...webhook }),
    output: z.object({ id: Id('webhook'), deleted: z.literal(true) }),
    errors: [],
    example: { ...example },
  }),
  testWebhook: operation({
    closedTo: ['program'],
    method: 'POST',
    path: '/webhooks/{id}/test',
    summary: 'Test a webhook',
    description: 'Sends an event webhook.test to this webhook alone, whatever types it wants.',
    access: 'account',
    rate: 'default',
    resource: 'webhook',
    effect: 'write',
    idempotent: false,
    input: z.strictObject({ ...webhook }),
    output: z.object({ webhook_id: Id('webhook'), event_id: Id('event') }),
    errors: [],
    example: { ...example },
    next: seeDeliveries,
  }),
  listWebhookDeliveries: listOperation({
    method: 'GET',
    path: '/webhooks/{id}/deliveries',
    summary: 'List the deliveries of a webhook',
    description:
      'Lists what was sent to a webhook, newest first. A delivery with status dead was given up after the last attempt; replay_webhook tries it again.',
    access: 'read',
    rate: 'default',
    resource: 'webhook',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({
      ...webhook,
      ...paging,
      status: z.enum(['pending', 'delivered', 'dead']).optional(),
    }),
    output: Delivery,
    errors: [],
    example: { ...example },
  }),
  replayWebhook: operation({
    closedTo: ['program'],
    method: 'POST',
    path: '/webhooks/{id}/replay',
    summary: 'Send events to a webhook again',
    description:
      'Sends one delivery of a webhook again, or without delivery_id all that are dead. A disabled webhook is enabled by it.',
    access: 'account',
    rate: 'default',
    resource: 'webhook',
    effect: 'write',
    idempotent: true,
    input: z.strictObject({ ...webhook, delivery_id: Id('delivery').optional() }),
    output: z.object({ webhook_id: Id('webhook'), replayed: z.number().int() }),
    errors: [],
    example: { ...example },
    next: seeDeliveries,
  }),
}
