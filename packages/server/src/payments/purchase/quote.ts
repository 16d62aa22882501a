import type { Services } from '../../platform/services.ts'

/** How long the terms of a 402 are valid. */
const LIFETIME_MS = 600_000
const CONTEXT = 'purchase'

/** The content of the promise in the terms of a 402. */
export interface Quote {
  /** The digest of the whole request. */
  digest: Buffer
  /** micro-USD */
  amount: bigint
  /** The address to pay to, lower-case. */
  payTo: string
}

/**
 * Promises a price for one request. The quote is sealed with the server's key and comes back with the payment, so that
 * nothing is stored. Each quote is unique and never appears on a chain, so its bearer received it from this service.
 */
export function makeQuote({ sealer, clock }: Services, { digest, amount, payTo }: Quote): string {
  const until = clock.now().getTime() + LIFETIME_MS
  const text = [digest.toString('hex'), amount, payTo, until].join(' ')
  return sealer.seal(text, CONTEXT).toString('base64url')
}

/** The amount that a quote promises; undefined when it expired, is for another request or recipient, or is not ours. */
export function readQuote(
  { sealer, clock }: Services,
  text: string,
  { digest, payTo }: Omit<Quote, 'amount'>,
): bigint | undefined {
  try {
    const promised = sealer.open(Buffer.from(text, 'base64url'), CONTEXT)
    const [request, amount, to, until] = promised.split(' ') as [string, string, string, string]
    const isGood = request === digest.toString('hex') && to === payTo && clock.now().getTime() < Number(until)
    return isGood ? BigInt(amount) : undefined
  } catch {
    return undefined
  }
}
