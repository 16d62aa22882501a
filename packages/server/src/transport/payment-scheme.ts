import type { PaymentRequired, SettleResponse } from '@x402/core/types'
import { keccak256, stringToBytes } from 'viem'
import { z } from 'zod'

/*
 * The HTTP authentication scheme `Payment` (Machine Payments Protocol), with its method `evm` and intent `charge`: the same
 * signed transfers as those of x402, asked for by WWW-Authenticate and presented by Authorization.
 */

const SCHEME = /^Payment +(\S+) *$/i
const METHOD = { method: 'evm', intent: 'charge' } as const
const DECIMALS = 6

const Credential = z.object({
  challenge: z.object({
    id: z.string().max(2_100),
    realm: z.string(),
    method: z.literal(METHOD.method),
    intent: z.literal(METHOD.intent),
    request: z.string().max(4_096),
  }),
  payload: z.object({
    type: z.literal('authorization'),
    signature: z.string(),
    from: z.string(),
    to: z.string(),
    value: z.string(),
    validAfter: z.string(),
    validBefore: z.string(),
    nonce: z.string(),
  }),
})
const Request = z.object({ currency: z.string(), methodDetails: z.object({ chainId: z.number().int() }) })

/** Whether a request presents a payment where others present a token. */
export const isPaymentScheme = (authorization: string | undefined): authorization is string =>
  authorization !== undefined && SCHEME.test(authorization)

/**
 * The payment to make, as one challenge for each of the terms of x402 that hold for a quote. The quote is the
 * identifier: the nonce of what is signed is made of it, so that a payment belongs to the answer that asked for it.
 */
export function paymentChallenges({ resource, accepts }: PaymentRequired): string[] {
  const realm = new URL(resource!.url).host
  return accepts.flatMap(({ network, asset, amount, payTo, extra }, index) => {
    if (typeof extra.quote !== 'string') return []
    const request = {
      amount,
      currency: asset,
      methodDetails: {
        chainId: Number(network.split(':')[1]),
        credentialTypes: ['authorization'],
        decimals: DECIMALS,
      },
      recipient: payTo,
    }
    const parts = { id: `${extra.quote}.${index}`, realm, ...METHOD, request: encode(request) }
    return `Payment ${Object.entries(parts)
      .map(([name, value]) => `${name}="${value}"`)
      .join(', ')}`
  })
}

/**
 * Reads a payment as one of x402.
 * @returns what stood there when it cannot be read, which nothing can be paid with
 */
export function paymentOfScheme(authorization: string): unknown {
  try {
    const { challenge, payload } = Credential.parse(decode(SCHEME.exec(authorization)![1]!))
    const { currency, methodDetails } = Request.parse(decode(challenge.request))
    const { type: _only, signature, ...signed } = payload
    if (signed.nonce.toLowerCase() !== keccak256(stringToBytes(challenge.id + challenge.realm))) return {}
    return {
      x402Version: 2,
      accepted: {
        scheme: 'exact',
        network: `eip155:${methodDetails.chainId}`,
        asset: currency,
        extra: { quote: challenge.id.split('.')[0] },
      },
      payload: { signature, authorization: signed },
    }
  } catch {
    return {}
  }
}

/** That a payment was taken, and in which transaction. */
export const paymentReceipt = ({ transaction }: SettleResponse, timestamp: string): string =>
  encode({ method: METHOD.method, reference: transaction, status: 'success', timestamp })

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const decode = (text: string): unknown => JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
