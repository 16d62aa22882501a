import { z } from 'zod'
import { Id } from './ids.ts'
import { networks, tokenSymbols } from './invoices.ts'
import { operation } from './operation.ts'

/** The signed content is text, so money and times are text here on both sides of the wire. */
const UsdText = z.string().describe('US dollars')
const TimeText = z.string().describe('RFC 3339, UTC')

export const Receipt = z.object({
  version: z.literal('coinrack-receipt-1'),
  issuer: z.string().describe('Address of the service'),
  issued_at: TimeText,
  invoice_id: Id('invoice'),
  kind: z.enum(['topup', 'order', 'renewal']),
  account_id: Id('account'),
  email: z.string().nullable(),
  name: z.string().nullable(),
  amount: UsdText,
  currency: z.literal('USD'),
  paid_at: TimeText,
  charges: z
    .array(
      z.object({
        transaction_id: Id('transaction'),
        description: z.string(),
        amount: UsdText,
        charged_at: TimeText,
      }),
    )
    .describe('Charges to the balance for it; none for a top-up'),
  payments: z
    .array(
      z.object({
        network: z.enum(networks),
        token: z.enum(tokenSymbols),
        tx_hash: z.string(),
        log_index: z.number().int(),
        amount: UsdText,
        credited_at: TimeText,
      }),
    )
    .describe('Payments on chain for it; none when the balance paid'),
})
export type Receipt = z.infer<typeof Receipt>

const base64url = z.string().regex(/^[\w-]+$/)

export const SignedReceipt = z.object({
  receipt: Receipt,
  signature: z
    .object({
      algorithm: z.literal('Ed25519'),
      key_id: base64url.describe('RFC 7638 thumbprint'),
      public_key: base64url,
      value: base64url,
    })
    .describe('Over the receipt as canonical JSON (RFC 8785); keys: /.well-known/jwks.json'),
})
export type SignedReceipt = z.infer<typeof SignedReceipt>

/**
 * A value of JSON as the one text that stands for it, by RFC 8785 (JCS): members sorted by the UTF-16 units of their
 * names, no white space; texts and numbers as ECMAScript writes them.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`
}

export const receipts = {
  getReceipt: operation({
    method: 'GET',
    path: '/invoices/{id}/receipt',
    summary: 'Get a signed receipt',
    description:
      'Returns the receipt of a paid invoice, signed with the key of the operator. Keep the whole answer as a file: anyone can check it offline with "coinrack receipt verify". By REST with Accept: text/html it is a page to print. An order has one once it was delivered and charged.',
    access: 'read',
    rate: 'default',
    resource: 'invoice',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ invoice_id: Id('invoice') }),
    output: SignedReceipt,
    errors: ['receipt_not_ready'],
    example: { invoice_id: 'inv_01kabcdefghjkmnpqrstvwxyz0' },
  }),
}
