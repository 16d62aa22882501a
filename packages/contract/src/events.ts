import { z } from 'zod'
import { balanceFields } from './balance.ts'
import { Id } from './ids.ts'
import { listOperation } from './operation.ts'
import { tariffNames } from './sandbox-tariffs.ts'
import { sandboxReasons } from './sandboxes.ts'
import { vpsStatuses } from './vps.ts'
import { paging, Timestamp, Usd, WaitSeconds } from './wire.ts'

const DelegationTold = z.object({
  delegation_id: Id('delegation'),
  service_id: Id('service'),
  hostname: z.string(),
  email: z.string(),
})

const RefundTold = z.object({
  refund_id: Id('refund'),
  amount: Usd,
  network: z.string(),
  token: z.string(),
  address: z.string(),
})

const ApprovalTold = z.object({
  approval_id: Id('approval'),
  token_id: Id('token'),
  operation: z.string(),
  subject: z.string(),
  price: Usd,
})

const PaidTime = z.object({ service_id: Id('service'), hostname: z.string(), paid_until: Timestamp })

const SandboxTold = z.object({
  sandbox_id: Id('sandbox'),
  tariff: z.enum(tariffNames),
  template: z.string(),
  metadata: z.record(z.string(), z.string()),
})
const SoFar = { reason: z.enum(sandboxReasons).nullable(), seconds: z.number(), cost: Usd }

/** The events that can happen to an account, and what is told of each. */
export const eventTypes = {
  'balance.credited': z.object({
    amount: Usd,
    token: z.string(),
    network: z.string(),
    tx_hash: z.string(),
    invoice_id: Id('invoice').nullable(),
  }),
  /** The chain took a credited payment back. */
  'balance.reversed': z.object({
    amount: Usd,
    token: z.string(),
    network: z.string(),
    tx_hash: z.string(),
    invoice_id: Id('invoice').nullable(),
  }),
  /** It covers what renews itself for fewer hours than one of the operator's thresholds: once for each of them. */
  'balance.low': z.object({
    ...balanceFields,
    runs_out_at: Timestamp,
    threshold_hours: z.number().int(),
  }),
  /** Until cancel_until it can be taken back. */
  'refund.requested': RefundTold.extend({ cancel_until: Timestamp }),
  'refund.cancelled': RefundTold,
  'refund.approved': RefundTold,
  'refund.rejected': RefundTold.extend({ reason: z.string() }),
  'refund.sent': RefundTold.extend({ tx_hash: z.string() }),
  /** A charge needs the approval of the account's owner, at approval_url. */
  'approval.requested': ApprovalTold.extend({ approval_url: z.string(), expires_at: Timestamp }),
  /** Once it is approved, the same call can be made until expires_at. */
  'approval.decided': ApprovalTold.extend({
    decision: z.enum(['approved', 'denied']),
    expires_at: Timestamp,
  }),
  'invoice.paid': z.object({ invoice_id: Id('invoice'), amount: Usd }),
  /** The money came and is on the balance, but what the invoice was for could not be begun. */
  'invoice.settled_to_balance': z.object({
    invoice_id: Id('invoice'),
    order_id: Id('order').nullable(),
    service_id: Id('service').nullable(),
    received: Usd,
    reason: z.string(),
  }),
  'order.placed': z.object({
    order_id: Id('order'),
    service_id: Id('service'),
    product: z.string(),
    total: Usd,
  }),
  /** The money that was paid for it is on the balance; service_id where a machine was begun. */
  'order.failed': z.object({
    order_id: Id('order'),
    service_id: Id('service').nullable(),
    invoice_id: Id('invoice').nullable(),
    reason: z.string(),
  }),
  'vps.status_changed': z.object({
    service_id: Id('service'),
    hostname: z.string(),
    from: z.enum(vpsStatuses),
    to: z.enum(vpsStatuses),
  }),
  'vps.ssh_ready': z.object({
    service_id: Id('service'),
    hostname: z.string(),
    ip: z.string(),
    ssh_port: z.number().int(),
  }),
  /** The paid time ends in so many days. */
  'vps.renewal_due': PaidTime.extend({
    days: z.number().int(),
    price: Usd,
    auto_renew: z.boolean(),
    /** By balance and budget as they are now. */
    covered: z.boolean(),
    /** The invoice that it can be paid with where the balance does not cover it. */
    invoice_id: Id('invoice').nullable(),
  }),
  /** Without money, budget or auto-renew, or for a debt: powered off, and kept until delete_at. */
  'vps.suspended': PaidTime.extend({ delete_at: Timestamp, invoice_id: Id('invoice').nullable() }),
  'vps.resumed': PaidTime,
  /** It is moved to another host, and powered off for that once, at this time or later. */
  'vps.maintenance': z.object({ service_id: Id('service'), hostname: z.string(), from: Timestamp }),
  /** With its host, for good: what was paid for the time since is credited. */
  'vps.lost': z.object({ service_id: Id('service'), hostname: z.string(), since: Timestamp, credited: Usd }),
  /** At the end of its paid time, or of the grace after it. */
  'vps.deleted': PaidTime,
  'sandbox.started': SandboxTold,
  'sandbox.failed': SandboxTold.extend({ failure: z.string() }),
  'sandbox.paused': SandboxTold.extend(SoFar),
  'sandbox.resumed': SandboxTold,
  /** Nothing of it is left; cost is what was charged. */
  'sandbox.ended': SandboxTold.extend(SoFar),
  'delegation.accepted': DelegationTold,
  'delegation.revoked': DelegationTold,
  /** By itself, at its time. */
  'delegation.expired': DelegationTold,
  /** By the operator. */
  'ticket.replied': z.object({ ticket_id: Id('ticket'), subject: z.string() }),
  'ticket.closed': z.object({ ticket_id: Id('ticket'), subject: z.string() }),
  'webhook.test': z.object({ webhook_id: Id('webhook') }),
}

export type EventType = keyof typeof eventTypes
export type EventData<T extends EventType> = z.output<(typeof eventTypes)[T]>

/** An event as it is told, by whatever way. */
export const Event = z.object({
  id: Id('event'),
  position: z.number().int().describe('1, 2, 3, ... within the account'),
  type: z.string().describe(`${Object.keys(eventTypes).slice(0, 3).join(', ')}, ...`),
  timestamp: Timestamp,
  data: z.record(z.string(), z.unknown()),
})

export const events = {
  listEvents: listOperation({
    method: 'GET',
    path: '/events',
    summary: 'List events',
    description:
      'Lists what happened to the account (payments, orders, VPS), oldest first. Send the position of your last event as cursor; with timeout the answer waits for the next one (at most 50 s). By REST with Accept: text/event-stream they are streamed, and Last-Event-ID resumes.',
    access: 'read',
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({
      ...paging,
      cursor: z
        .string()
        .regex(/^\d{1,15}$/, 'Expected the position of an event')
        .optional(),
      timeout: WaitSeconds.default(0),
    }),
    output: Event,
    errors: [],
    example: { cursor: '0', timeout: 0 },
  }),
}
