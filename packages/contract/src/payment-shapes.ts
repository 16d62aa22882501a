import { z } from 'zod'
import { Id } from './ids.ts'
import { Timestamp } from './wire.ts'

export const Settlement = z
  .object({
    success: z.boolean(),
    errorReason: z.string().optional().describe('"settlement_pending": do not pay again'),
    transaction: z.string(),
    network: z.string(),
    payer: z.string(),
    amount: z.string(),
  })
  .describe("x402's SettlementResponse")

/** The fields of an answer beside what was bought, for a caller that came with a payment and no account. */
export const Purchase = {
  token: z
    .string()
    .nullable()
    .describe('Shown once, or again with the same Idempotency-Key of 128 bits; else log in by wallet'),
  token_type: z.literal('Bearer'),
  token_expires_at: Timestamp.nullable(),
  account_id: Id('account').describe('Account of the wallet'),
  settlement: Settlement,
}

/** The errors of a payment by signature. */
export const paymentErrors = [
  'payment_required',
  'payment_malformed',
  'payment_not_accepted',
  'payment_signature_invalid',
  'payment_expired',
  'payment_not_yet_valid',
  'payment_nonce_used',
  'payment_insufficient_funds',
  'payment_failed',
  'payment_arrived',
  'payment_pending',
  'settlement_unavailable',
] as const

/** The errors of a purchase without an account. */
export const purchaseErrors = [...paymentErrors, 'payment_method_unavailable', 'payment_used'] as const
