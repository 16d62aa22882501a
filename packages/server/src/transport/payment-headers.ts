import { encodePaymentRequiredHeader, encodePaymentResponseHeader } from '@x402/core/http'
import type { PaymentRequired, SettleResponse } from '@x402/core/types'
import { paymentChallenges, paymentReceipt } from './payment-scheme.ts'

/**
 * The headers that say what an answer says of a payment: those of x402's HTTP transport, version 2; and those of the
 * scheme `Payment`, where the terms hold for a quote.
 */
export function paymentHeaders(body: Record<string, unknown>): Record<string, string | string[]> {
  const { x402Version, error, resource, accepts } = body as unknown as PaymentRequired
  const settlement = body.settlement as SettleResponse | undefined
  return {
    ...(x402Version === undefined
      ? {}
      : {
          'payment-required': encodePaymentRequiredHeader({ x402Version, error, resource, accepts }),
          ...challenges(body as unknown as PaymentRequired),
        }),
    ...(settlement === undefined ? {} : settled(settlement)),
    ...(settlement?.success && typeof body.created_at === 'string'
      ? { 'payment-receipt': paymentReceipt(settlement, body.created_at) }
      : {}),
  }
}

function challenges(terms: PaymentRequired): Record<string, string[]> {
  const offered = paymentChallenges(terms)
  return offered.length > 0 ? { 'www-authenticate': offered } : {}
}

/** Under the name that each version of x402 has for it. */
function settled(settlement: SettleResponse): Record<string, string> {
  const told = encodePaymentResponseHeader(settlement)
  return { 'payment-response': told, 'x-payment-response': told }
}
