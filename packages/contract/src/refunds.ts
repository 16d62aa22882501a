import { z } from 'zod'
import { exampleWallet } from './examples.ts'
import { Id } from './ids.ts'
import { networks, tokenSymbols } from './invoices.ts'
import { listOperation, operation } from './operation.ts'
import { paging, Timestamp, Usd, UsdInput } from './wire.ts'

const statuses = ['requested', 'approved', 'sent', 'cancelled', 'rejected'] as const

export const Refund = z.object({
  id: Id('refund'),
  status: z
    .enum(statuses)
    .describe(
      'requested: it can be cancelled; approved: the operator pays it next; sent: it is on its chain',
    ),
  amount: Usd,
  network: z.enum(networks),
  token: z.enum(tokenSymbols),
  address: z.string(),
  cancel_until: Timestamp.describe('The operator cannot approve it before'),
  reason: z.string().nullable().describe('Why it was rejected'),
  tx_hash: z.string().nullable(),
  created_at: Timestamp,
  closed_at: Timestamp.nullable(),
})

const Address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'Expected an address: 0x and 40 hexadecimal digits')

const wanted = {
  amount: UsdInput.describe('US dollars, at least 1'),
  network: z.enum(networks),
  token: z.enum(tokenSymbols),
  address: Address.describe(
    'Address that the refund goes to: one whose key you hold, not that of an exchange or a contract',
  ),
}
const example = {
  amount: 5,
  network: 'base' as const,
  token: 'USDC' as const,
  address: exampleWallet,
}
const refund = { refund_id: Id('refund') }

export const refunds = {
  getRefundTerms: operation({
    method: 'GET',
    path: '/refunds/terms',
    summary: 'Show what can be refunded',
    description:
      'Shows how much can be refunded on which network and token: money that came there, is final on its chain, is not spent, and is no credit by the operator. The typed data (EIP-712) is what the key of the address signs for request_refund.',
    access: 'billing',
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ ...wanted }),
    output: z.object({
      refundable: z.array(z.object({ network: z.enum(networks), token: z.enum(tokenSymbols), amount: Usd })),
      typed_data: z
        .record(z.string(), z.unknown())
        .describe('As eth_signTypedData_v4 takes it: domain, types, primaryType, message'),
      expires_at: Timestamp.describe('When the signature expires; send it along'),
    }),
    errors: [],
    example,
    next: (_answer, input) => [
      {
        tool: 'request_refund',
        why: 'Send the same fields with expires_at and the signature, within 10 minutes of verify_login_code',
        arguments: input,
      },
    ],
  }),
  requestRefund: operation({
    method: 'POST',
    path: '/refunds',
    summary: 'Ask for a refund',
    description:
      'Opens a refund: the operator pays money back to an address that you prove by its signature over the typed data of get_refund_terms. The token has to be one of a login whose mailbox was proven by a code within the last 10 minutes. The amount is held at once, mail and an event tell of it, and for 24 hours cancel_refund takes it back; after that the operator decides.',
    access: 'billing',
    closedTo: ['grant', 'program'],
    rate: 'topups',
    effect: 'spend',
    idempotent: false,
    input: z.strictObject({
      ...wanted,
      expires_at: z.iso.datetime({ offset: true }).describe('The expires_at that get_refund_terms answered'),
      signature: z
        .string()
        .regex(/^0x[0-9a-fA-F]{130}$/, 'Expected a signature: 0x and 130 hexadecimal digits'),
    }),
    output: Refund,
    created: ({ id }) => `/refunds/${id}`,
    errors: [
      'child_token',
      'proof_too_old',
      'refund_open',
      'refund_repeated',
      'refund_too_much',
      'refund_other_chain',
      'refund_signature_invalid',
      'refund_signature_expired',
      'refund_to_token',
      'refund_to_contract',
      'refund_address_blocked',
      'account_owes',
      'insufficient_balance',
    ],
    example: {
      ...example,
      expires_at: '2026-01-31T12:30:00Z',
      signature: `0x${'1b'.repeat(65)}`,
    },
    next: (answer) => [
      {
        tool: 'cancel_refund',
        why: 'Take it back, until cancel_until',
        arguments: { refund_id: answer.id },
      },
      { tool: 'get_refund', why: 'See later how far it is', arguments: { refund_id: answer.id } },
    ],
  }),
  listRefunds: listOperation({
    method: 'GET',
    path: '/refunds',
    summary: 'List refunds',
    description: 'Lists the refunds that you asked for, newest first.',
    access: 'read',
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ ...paging }),
    output: Refund,
    errors: [],
    example: {},
  }),
  getRefund: operation({
    method: 'GET',
    path: '/refunds/{id}',
    summary: 'Show a refund',
    description: 'Shows how far a refund is, and its transaction once it was sent.',
    access: 'read',
    rate: 'default',
    resource: 'refund',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ ...refund }),
    output: Refund,
    errors: [],
    example: { refund_id: 'rfd_01kabcdefghjkmnpqrstvwxyz0' },
  }),
  cancelRefund: operation({
    method: 'POST',
    path: '/refunds/{id}/cancel',
    summary: 'Cancel a refund',
    description:
      'Takes back a refund that the operator has not approved yet: the amount is on the balance again. A refund that you did not ask for means that a stranger has your token and access to your mailbox: log in, and revoke the other tokens.',
    access: 'billing',
    rate: 'default',
    resource: 'refund',
    effect: 'write',
    idempotent: true,
    input: z.strictObject({ ...refund }),
    output: Refund,
    errors: ['refund_closed'],
    example: { refund_id: 'rfd_01kabcdefghjkmnpqrstvwxyz0' },
    next: () => [{ tool: 'get_balance', why: 'See the amount on the balance again' }],
  }),
}
