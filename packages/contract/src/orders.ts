import { z } from 'zod'
import { balanceFields } from './balance.ts'
import { approvalErrors } from './common-errors.ts'
import { exampleSshKey } from './examples.ts'
import { Id } from './ids.ts'
import { listOperation, operation } from './operation.ts'
import { purchaseErrors, Settlement } from './payment-shapes.ts'
import { billingCycles, Hostname, UserData, Vps } from './vps.ts'
import { paging, Timestamp, Usd, UsdInput } from './wire.ts'

export const Order = z.object({
  id: Id('order'),
  status: z
    .enum(['quote', 'awaiting_payment', 'provisioning', 'active', 'failed', 'cancelled', 'expired'])
    .describe('quote: a dry run, nothing was made'),
  product: z.string(),
  os_id: z.number().int(),
  hostname: z.string(),
  total: Usd,
  currency: z.literal('USD'),
  service_id: Id('service').nullable(),
  invoice_id: Id('invoice').nullable(),
  failure_reason: z.string().nullable(),
  created_at: Timestamp,
})

export const orderFields = {
  product: z.string().max(64).describe('A slug from list_plans'),
  os_id: z.number().int().describe('From os_images of the plan'),
  ssh_key: z.string().max(16_384).optional().describe('For root: a public key, or the id of a stored one'),
  hostname: Hostname.optional(),
  user_data: UserData.optional(),
  billing_cycle: z.enum(billingCycles).default('monthly'),
  months: z.number().int().min(1).max(12).default(1).describe('Paid in advance; not for hourly'),
  auto_renew: z.boolean().optional().describe('Default: true, if the token may'),
  max_price: UsdInput.optional().describe('Refuse when the total is above this'),
  dry_run: z.boolean().default(false).describe('Only check, and answer a quote'),
  quote_id: z.string().max(1000).optional().describe('Order at the price of a dry run'),
  create_invoice: z.boolean().default(true).describe('false: a 402 leaves nothing behind'),
  region: z.string().max(64).optional(),
  boot: z.enum(['auto', 'cold']).default('auto').describe('cold: slower, shares no memory layout'),
}
export const monthsFit = ({ billing_cycle, months }: { billing_cycle: string; months: number }) =>
  billing_cycle === 'monthly' || months === 1
export const NO_MONTHS = 'An hourly VPS has no months'

export const PlacedOrder = Order.extend({
  quote: z
    .object({ id: z.string(), expires_at: Timestamp })
    .nullable()
    .describe('For a dry run: until when the price holds for quote_id'),
  paid_from_balance: z.boolean(),
  service: Vps.nullable(),
  ...balanceFields,
})

export const orderErrors = [
  'unknown_product',
  'os_not_supported',
  'invalid_ssh_key',
  'invalid_user_data',
  'quote_invalid',
  'price_above_maximum',
  'budget_exceeded',
  'insufficient_balance',
  'account_owes',
  'capacity',
  'unpaid_order_limit',
] as const

export const awaitSsh = ({ service_id, token }: Record<string, unknown>) => [
  {
    tool: 'get_vps_status',
    why: 'Wait until SSH answers, then log in; the answer holds the one-time root password',
    arguments: {
      service_id,
      wait: 'ssh_ready',
      timeout: 50,
      ...(typeof token === 'string' ? { access_token: token } : {}),
    },
  },
]

export const orders = {
  orderVps: operation({
    method: 'POST',
    path: '/orders',
    everyday: true,
    summary: 'Order a VPS',
    description:
      'Orders a VPS and pays it from the balance. The price is held now and charged when SSH answers; the paid time begins then, and is renewed from the balance. When the balance does not cover it the 402 has an unpaid invoice and x402 terms: pay either, or top up and send the same order again, which continues it.',
    access: 'order',
    withoutAccount: 'buyVps',
    rate: 'orders',
    x402: true,
    effect: 'spend',
    idempotent: false,
    input: z.strictObject(orderFields).refine(monthsFit, NO_MONTHS),
    output: PlacedOrder.extend({ settlement: Settlement.optional() }),
    created: ({ id, quote }) => (quote ? undefined : `/orders/${id}`),
    errors: [...orderErrors, ...approvalErrors, ...purchaseErrors],
    example: {
      product: 'nano',
      os_id: 1,
      ssh_key: exampleSshKey,
    },
    next: (answer, { dry_run: _asked, ...wanted }) =>
      answer.status === 'quote'
        ? [
            {
              tool: 'order_vps',
              why: 'Order at this price',
              arguments: { ...wanted, quote_id: (answer.quote as { id: string }).id },
            },
          ]
        : awaitSsh(answer),
  }),
  listOrders: listOperation({
    method: 'GET',
    path: '/orders/list',
    summary: 'List orders',
    description: 'Lists the orders of the account, newest first.',
    access: 'read',
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ ...paging }),
    output: Order,
    errors: [],
    example: {},
  }),
  getOrder: operation({
    method: 'GET',
    path: '/orders/{id}',
    summary: 'Show an order',
    description: 'Shows an order with its status, its invoice while it awaits payment, and its service.',
    access: 'read',
    rate: 'default',
    resource: 'order',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ order_id: Id('order') }),
    output: Order,
    errors: [],
    example: { order_id: 'ord_01kabcdefghjkmnpqrstvwxyz0' },
    next: ({ status, service_id, invoice_id }) => {
      if (status === 'awaiting_payment')
        return [
          {
            tool: 'get_invoice',
            why: 'See how it is paid, and wait until it is',
            arguments: { invoice_id, wait: 'paid', timeout: 50 },
          },
        ]
      if (status === 'provisioning' || status === 'active')
        return [
          {
            tool: 'get_vps_status',
            why: 'Wait until SSH of its VPS answers, then log in',
            arguments: { service_id, wait: 'ssh_ready', timeout: 50 },
          },
        ]
      return [{ tool: 'list_plans', why: 'See what can be ordered now' }]
    },
  }),
}
