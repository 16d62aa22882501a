import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DemoChains } from '../../chain/demo-chains.ts'
import { startTestChains } from '../../chain/testing.ts'
import { inspect, mcpClients } from '../../transport/mcp/testing-mcp.ts'
import { type Customer, usd } from '../testing.ts'
import { type Payer, signPayment, stockClient, type X402World, x402World } from './testing.ts'

let demo: DemoChains
let world: X402World
let customer: Customer
let payer: Payer

beforeAll(async () => {
  demo = await startTestChains()
  world = await x402World(demo)
  await world.look()
})
afterAll(async () => {
  await demo.stop()
  await world?.close()
})
beforeEach(async () => {
  customer = await world.customer()
  payer = await world.payer([{ symbol: 'USDC', amount: usd(10) }])
})

/** The result of the tool as sent on the wire, with the parts that an MCP client of x402 reads. */
async function callTool(input: Record<string, unknown>, payment?: unknown) {
  const reply = await world.app.inject({
    method: 'POST',
    url: '/mcp',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2025-06-18',
      authorization: `Bearer ${customer.token}`,
    },
    payload: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'topup_balance',
        arguments: input,
        ...(payment === undefined ? {} : { _meta: { 'x402/payment': payment } }),
      },
    },
  })
  return JSON.parse(/^data: (.*)$/m.exec(reply.body)![1]!).result
}

test('default: the tool says what to pay, and with the payment in _meta answers the new balance', async () => {
  const asked = await callTool({ amount: 4, method: 'x402' })
  expect(asked.isError).toBe(true)
  expect(asked.structuredContent).toMatchObject({ x402Version: 2, code: 'payment_required' })
  expect(JSON.parse(asked.content[0].text)).toEqual(asked.structuredContent)

  const payment = await stockClient(payer).createPaymentPayload(asked.structuredContent)
  const paid = await callTool({ amount: 4 }, payment)
  expect(paid.isError).toBeUndefined()
  expect(paid.structuredContent).toMatchObject({ balance: '4.00', invoice: { status: 'paid' } })
  expect(paid.structuredContent.next_steps).toMatchObject([{ tool: 'order_vps' }])
  expect(paid._meta['x402/payment-response']).toEqual(paid.structuredContent.settlement)
  expect(paid._meta['x402/payment-response']).toMatchObject({ success: true, payer: payer.address })
  await world.settle()
  expect((await customer.balance()).available).toBe(usd(4))
})

test('error: a payment that is refused answers why, and again what to pay', async () => {
  const { structuredContent } = await callTool({ amount: 4, method: 'x402' })
  const payment = await signPayment(payer, structuredContent.accepts[0], {
    authorization: { validBefore: '1' },
  })
  const refused = await callTool({ amount: 4 }, payment)
  expect(refused).toMatchObject({
    isError: true,
    structuredContent: { code: 'payment_expired', accepts: structuredContent.accepts },
  })
})

test('error: what is no payment', async () => {
  for (const payment of [null, 'text', 7, {}]) {
    expect(await callTool({ amount: 4 }, payment)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('"code":"payment_malformed"') }],
    })
  }
})

describe('through the official clients', () => {
  const endpoint = () => new URL('/mcp', world.topupUrl)

  test.each(mcpClients)(
    'default: %s gets the terms where x402 looks for them, and pays',
    async (_name, connect) => {
      const client = await connect(endpoint())
      const input = { amount: 4, access_token: customer.token }
      const asked = await client.callTool({ name: 'topup_balance', arguments: { ...input, method: 'x402' } })
      expect(asked).toMatchObject({ isError: true, structuredContent: { x402Version: 2 } })
      expect(JSON.parse(asked.content[0]!.text!)).toEqual(asked.structuredContent)
      const terms = asked.structuredContent as never
      const payment = await stockClient(payer).createPaymentPayload(terms)
      const paid = await client.callTool({
        name: 'topup_balance',
        arguments: input,
        _meta: { 'x402/payment': payment },
      })
      expect(paid).toMatchObject({ structuredContent: { balance: '4.00' } })
      expect(paid._meta!['x402/payment-response']).toMatchObject({ success: true, payer: payer.address })
      await client.close()
    },
  )

  test("default: the inspector's command line shows the terms", async () => {
    const input = { amount: 4, method: 'x402', access_token: customer.token }
    const [asked] = await inspect(endpoint(), [{ name: 'topup_balance', input }])
    expect(asked!.result).toMatchObject({ isError: true, structuredContent: { code: 'payment_required' } })
    expect(asked!.result!.structuredContent!.accepts).not.toHaveLength(0)
  })
})
