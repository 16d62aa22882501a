import type { ErrorCode } from '@coinrack/contract/errors.ts'

/** The codes that need a chain: they have a table of their own. */
export const codesOfPayments = [
  'payment_malformed',
  'payment_required',
  'payment_not_accepted',
  'payment_signature_invalid',
  'payment_expired',
  'payment_not_yet_valid',
  'payment_nonce_used',
  'payment_insufficient_funds',
  'payment_failed',
  'payment_arrived',
  'payment_pending',
  'payment_used',
  'payment_seen',
  'payment_method_unavailable',
  'settlement_unavailable',
  'account_owes',
  'receipt_not_ready',
  'refund_open',
  'refund_repeated',
  'refund_closed',
  'refund_too_much',
  'refund_other_chain',
  'refund_signature_invalid',
  'refund_signature_expired',
  'refund_to_token',
  'refund_to_contract',
  'refund_address_blocked',
  'proof_too_old',
] as const satisfies ErrorCode[]

export type CodeOfPayments = (typeof codesOfPayments)[number]
