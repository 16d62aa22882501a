import { encodePaymentRequiredHeader, encodePaymentResponseHeader } from '@x402/core/http'
import type { PaymentRequired, SettleResponse } from '@x402/core/types'

/** What an answer says of a payment by x402, in the headers of its HTTP transport, version 2. */
export function paymentHeaders(body: Record<string, unknown>): Record<string, string> {
  const { x402Version, error, resource, accepts } = body as unknown as PaymentRequired
  const settlement = body.settlement as SettleResponse | undefined
  return {
    ...(x402Version === undefined
      ? {}
      : { 'payment-required': encodePaymentRequiredHeader({ x402Version, error, resource, accepts }) }),
    ...(settlement === undefined ? {} : { 'payment-response': encodePaymentResponseHeader(settlement) }),
  }
}
