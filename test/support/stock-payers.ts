import { fetchDemoMoney, payOnDemoChain } from '@coinrack/cli/pay-on-demo-chain.ts'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { evm, Mppx } from 'mppx/client'
import { assets } from 'mppx/evm/client'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { RunningService } from './running-service.ts'

/*
 * Foreign programs that pay by signature, set up as their users do. They do not know the tokens of the local chains, so
 * each is told of them by the option that its documentation has for that.
 */

const BASE_CHAIN = 8453

/** A payer with some of the test USDC on Base, and with no coins for gas. */
export async function newPayer(service: RunningService, amount: bigint) {
  const account = privateKeyToAccount(generatePrivateKey())
  const asked = await fetch(`${service.origin}/x402/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ product: 'nano', os_id: 1, billing_cycle: 'hourly' }),
  })
  const { accepts } = (await asked.json()) as { accepts: Terms[] }
  const usdc = accepts.find(({ network }) => network === `eip155:${BASE_CHAIN}`)!
  await payOnDemoChain(await fetchDemoMoney(service.origin), {
    ...{ chain_id: BASE_CHAIN, token_address: usdc.asset },
    ...{ address: account.address, amount_atomic: String(amount) },
  })
  return { account, usdc }
}

interface Terms {
  network: string
  asset: `0x${string}`
  extra: { name: string; version: string }
}
type Payer = Awaited<ReturnType<typeof newPayer>>

/** The answer that a program got, and in how many calls. */
export interface Bought {
  calls: number
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at any part of it
  body: any
}

function x402Of({ account }: Payer) {
  const client = new x402Client().register(`eip155:${BASE_CHAIN}`, new ExactEvmScheme(account))
  client.setSpendControls({ allowedAssets: true, maxAmountPerPayment: '$20' })
  return client
}

/** Posts JSON with whatever sends it, and counts the calls. */
async function post(
  wrap: (counting: typeof fetch) => (input: string, init: RequestInit) => Promise<Response>,
  url: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Bought> {
  let calls = 0
  const counting: typeof fetch = (...call) => {
    calls++
    return fetch(...call)
  }
  const reply = await wrap(counting)(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { calls, body: await reply.json() }
}

/** `@x402/fetch`, with a token of an account or without any. */
export const withX402Fetch = (payer: Payer, url: string, body: object, token?: string): Promise<Bought> =>
  post(
    (counting) => wrapFetchWithPayment(counting, x402Of(payer)),
    url,
    body,
    token === undefined ? {} : { authorization: `Bearer ${token}` },
  )

/** `mppx`, by the HTTP scheme `Payment`. */
export const withMppx = ({ account, usdc }: Payer, url: string, body: object): Promise<Bought> => {
  const { name, version } = usdc.extra
  const currency = assets.define({
    ...{ address: usdc.asset, decimals: 6, network: `eip155:${BASE_CHAIN}` },
    transfer: { type: 'eip3009', name, version },
  })
  const charge = evm.charge({ account, currencies: [currency], maxAmount: '20' })
  return post(
    (counting) => Mppx.create({ polyfill: false, fetch: counting, methods: [charge] }).fetch,
    url,
    body,
  )
}

/** The official MCP client, with `@x402/core` for what goes into `_meta`. */
export async function withMcpClient(payer: Payer, endpoint: string, input: object): Promise<Bought> {
  const client = new Client({ name: 'buyer', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(endpoint)))
  try {
    const call = { name: 'buy_vps', arguments: { ...input } }
    const asked = await client.callTool(call)
    const payment = await x402Of(payer).createPaymentPayload(asked.structuredContent as never)
    const paid = await client.callTool({ ...call, _meta: { 'x402/payment': payment } })
    return { calls: 2, body: paid.structuredContent }
  } finally {
    await client.close()
  }
}
