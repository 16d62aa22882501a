import { eip3009ABI } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { decodeFunctionData, type Hash, type Hex, serializeSignature } from 'viem'
import type { testWallet } from '../../chain/testing.ts'
import {
  encodePayment,
  type Payer,
  type SignedPayment,
  signPayment,
  type X402World,
} from '../x402/testing.ts'

export const SSH_KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ4wD3vVxHqD2rXw8nVf5l2m8u5v0s3c1m2o3p4q5r6t agent'
export const OTHER_SSH_KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB8Yk0mJqj1y0r3mXq0eJbXw5s7hQz3t6kq9c1v2n3b4 thief'
/** An hourly order, which costs 0.108 USD a day. */
export const HOURLY = { product: 'nano', os_id: 1, ssh_key: SSH_KEY, billing_cycle: 'hourly' } as const

/**
 * Buys like any program with the stock client.
 * @param limit false lets the client pay any amount; by default it pays in USDC on Base, and at most 1 USD
 */
export async function buy(
  world: X402World,
  payer: Payer,
  path: '/x402/orders' | '/x402/sandboxes',
  body: object,
  { limit, headers = {} }: { limit?: false; headers?: Record<string, string> } = {},
) {
  let calls = 0
  const counted: typeof fetch = (...call) => {
    calls++
    return fetch(...call)
  }
  const client = new x402Client().register('eip155:*', new ExactEvmScheme(payer))
  if (limit === false) client.setSpendControls({ maxAmountPerPayment: false })
  const reply = await wrapFetchWithPayment(counted, client)(world.origin + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any part of it
  return { status: reply.status, body: (await reply.json()) as any, headers: reply.headers, calls }
}

/** Signs the payment that the service asks for in answer to a request. */
export async function signFor(
  world: X402World,
  payer: Payer,
  path: string,
  body: object,
  changes: Parameters<typeof signPayment>[2] = {},
): Promise<SignedPayment> {
  const asked = await world.ask('POST', path, { body })
  if (asked.status !== 402) throw new Error(`Answered ${asked.status}: ${JSON.stringify(asked.body)}`)
  return signPayment(payer, asked.body.accepts[0], changes)
}

export const present = (
  world: X402World,
  path: string,
  body: object,
  payment: unknown,
  headers: Record<string, string> = {},
) => world.ask('POST', path, { body, headers: { 'payment-signature': encodePayment(payment), ...headers } })

/** The payment as a stranger can rebuild it from its transaction. */
export async function rebuilt(
  { client }: ReturnType<typeof testWallet>,
  hash: Hash,
  payment: SignedPayment,
): Promise<SignedPayment> {
  const { input } = await client.getTransaction({ hash })
  const { args } = decodeFunctionData({ abi: eip3009ABI, data: input })
  const [from, to, value, validAfter, validBefore, nonce, v, r, s] = args as unknown as [
    ...[string, string, bigint, bigint, bigint, string, number, Hex, Hex],
  ]
  const { quote: _secret, ...extra } = payment.accepted.extra as Record<string, unknown>
  return {
    x402Version: 2,
    accepted: { ...payment.accepted, extra },
    payload: {
      signature: serializeSignature({ r, s, yParity: Number(v) - 27 }),
      authorization: {
        from,
        to,
        nonce,
        value: String(value),
        validAfter: String(validAfter),
        validBefore: String(validBefore),
      } as SignedPayment['payload']['authorization'],
    },
  }
}

export const count = async (world: X402World, from: string, values: unknown[] = []): Promise<number> =>
  Number(
    (await world.services.db.query<{ count: bigint }>(`select count(*) from ${from}`, values)).rows[0]!.count,
  )
