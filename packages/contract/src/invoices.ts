import { z } from 'zod'
import { balanceFields } from './balance.ts'
import { approvalErrors } from './common-errors.ts'
import { Id } from './ids.ts'
import { listOperation, operation } from './operation.ts'
import { paymentErrors, Settlement } from './payment-shapes.ts'
import { paging, Timestamp, Usd, UsdInput, WaitSeconds } from './wire.ts'

export const networks = ['base', 'ethereum', 'polygon'] as const
export const tokenSymbols = ['USDC', 'USDT', 'PYUSD'] as const

const PaymentOption = z.object({
  network: z.enum(networks),
  chain_id: z.number().int(),
  token: z.enum(tokenSymbols),
  token_address: z.string(),
  decimals: z.number().int(),
  address: z.string().describe('Send the token to this address'),
  amount: Usd,
  amount_atomic: z.string().describe('The amount in the smallest unit of the token'),
  uri: z.string().describe('EIP-681'),
})

const Payment = z.object({
  network: z.enum(networks),
  token: z.enum(tokenSymbols),
  tx_hash: z.string(),
  log_index: z.number().int(),
  amount: Usd,
  confirmations: z.number().int(),
  required: z.string().describe('Confirmations needed: a number of blocks, "safe" or "finalized"'),
  status: z.enum(['seen', 'credited', 'orphaned']),
})

const invoiceStatuses = [
  'unpaid',
  'confirming',
  'paid',
  'settled_to_balance',
  'expired',
  'cancelled',
] as const

export const Invoice = z.object({
  id: Id('invoice'),
  kind: z.enum(['topup', 'order', 'renewal']),
  status: z
    .enum(invoiceStatuses)
    .describe(
      'settled_to_balance: the money came and is on the balance, but what it was for could not be begun; see closed_reason',
    ),
  amount: Usd,
  received: Usd.describe('Credited so far'),
  currency: z.literal('USD'),
  order_id: Id('order').nullable(),
  service_id: Id('service')
    .nullable()
    .describe('The VPS that it renews, or that the order became once it was paid'),
  closed_reason: z.string().nullable().describe('Why it was settled to the balance'),
  checkout_url: z.string().describe('A page where this invoice can be paid, for people'),
  created_at: Timestamp,
  expires_at: Timestamp,
  paid_at: Timestamp.nullable(),
  payment_options: z.array(PaymentOption),
  payments: z.array(Payment),
})

const waitForPayment = (answer: Record<string, unknown>) => {
  const invoice = (answer.invoice ?? answer) as Partial<z.input<typeof Invoice>>
  const { service_id } = invoice
  switch (invoice.status) {
    case 'paid':
      return [
        {
          topup: { tool: 'order_vps', why: 'The balance is credited: order a plan from list_plans' },
          order: {
            tool: 'get_vps_status',
            why: 'Wait until SSH of the VPS that this paid for answers, then log in',
            arguments: { service_id, wait: 'ssh_ready', timeout: 50 },
          },
          renewal: {
            tool: 'get_vps_status',
            why: 'See until when the VPS is paid',
            arguments: { service_id },
          },
        }[invoice.kind ?? 'topup'],
      ]
    case 'settled_to_balance':
      return [
        { tool: 'get_balance', why: 'See the money: it is on the balance' },
        { tool: 'list_plans', why: 'See what is available now, and order that with order_vps' },
      ]
    case 'expired':
    case 'cancelled':
      return [{ tool: 'get_balance', why: 'See the balance: money that still arrives is credited there' }]
    default:
      return [
        {
          tool: 'get_invoice',
          why: 'After you sent the tokens, wait here until the payment is confirmed; repeat while unpaid',
          arguments: { invoice_id: invoice.id, wait: 'paid', timeout: 50 },
        },
      ]
  }
}

export const invoices = {
  topupBalance: operation({
    method: 'POST',
    path: '/balance/topup',
    everyday: true,
    summary: 'Top up the balance',
    description:
      'Makes a top-up invoice. Send USDC, USDT or PYUSD on Base, Ethereum or Polygon to the address of one of its payment_options, or let a person pay at checkout_url: the balance is credited with what arrives. With method x402 it is paid in the same call, by a signature and without gas.',
    access: 'billing',
    rate: 'topups',
    x402: true,
    effect: 'write',
    idempotent: false,
    input: z.strictObject({
      amount: UsdInput.describe('US dollars, at least 3'),
      network: z.enum(networks).optional(),
      token: z.enum(tokenSymbols).optional(),
      method: z
        .enum(['invoice', 'x402'])
        .optional()
        .describe(
          'x402: the 402 says what to sign (EIP-3009), and the same call with the payment settles it',
        ),
    }),
    output: z.object({
      invoice: Invoice,
      checkout_url: z.string(),
      ...z.object(balanceFields).partial().shape,
      settlement: Settlement.optional(),
    }),
    created: ({ invoice }) => `/invoices/${(invoice as { id: string }).id}`,
    errors: ['topup_pending', 'payment_method_unavailable', ...paymentErrors],
    example: { amount: 10 },
    next: waitForPayment,
  }),
  listInvoices: listOperation({
    method: 'GET',
    path: '/invoices',
    summary: 'List invoices',
    description: 'Lists the invoices of the account, newest first.',
    access: 'read',
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({
      ...paging,
      status: z.enum(invoiceStatuses).optional(),
    }),
    output: Invoice,
    errors: [],
    example: {},
  }),
  getInvoice: operation({
    method: 'GET',
    path: '/invoices/{id}',
    everyday: true,
    summary: 'Show an invoice',
    description:
      'Shows an invoice, how to pay it and its payments. With wait=paid the answer comes when the invoice is paid, or after timeout seconds (at most 50).',
    access: 'read',
    rate: 'default',
    resource: 'invoice',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({
      invoice_id: Id('invoice'),
      wait: z.literal('paid').optional(),
      timeout: WaitSeconds.default(30),
    }),
    output: Invoice,
    errors: [],
    example: { invoice_id: 'inv_01kabcdefghjkmnpqrstvwxyz0' },
    next: waitForPayment,
  }),
  payInvoice: operation({
    method: 'POST',
    path: '/invoices/{id}/pay',
    summary: 'Pay an invoice',
    description:
      'Pays an invoice from the balance, or shows how to pay it by crypto. Method "balance" settles the invoice of an order or a renewal at once; "crypto" answers the checkout_url and the payment options. By default the balance is used when it covers the invoice. A top-up is paid by crypto only.',
    access: 'billing',
    rate: 'orders',
    resource: 'invoice',
    effect: 'spend',
    idempotent: true,
    input: z.strictObject({
      invoice_id: Id('invoice'),
      method: z.enum(['balance', 'crypto']).optional(),
    }),
    output: z.object({
      status: z.enum(['settled', 'initiated']),
      invoice: Invoice,
      checkout_url: z.string(),
    }),
    errors: [
      'invoice_closed',
      'topup_by_crypto_only',
      'budget_exceeded',
      ...approvalErrors,
      'insufficient_balance',
      'account_owes',
      'renewal_limit',
      'capacity',
    ],
    example: { invoice_id: 'inv_01kabcdefghjkmnpqrstvwxyz0' },
    next: waitForPayment,
  }),
  cancelInvoice: operation({
    method: 'POST',
    path: '/invoices/{id}/cancel',
    summary: 'Cancel an unpaid invoice',
    description:
      'Closes an invoice on which nothing was paid, and cancels the order that it was for. Money that still arrives at its address is credited to the balance.',
    access: 'billing',
    rate: 'default',
    resource: 'invoice',
    effect: 'destructive',
    idempotent: true,
    input: z.strictObject({ invoice_id: Id('invoice') }),
    output: Invoice,
    errors: ['invoice_closed', 'payment_seen'],
    example: { invoice_id: 'inv_01kabcdefghjkmnpqrstvwxyz0' },
  }),
}
