import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DemoChains } from '../../chain/demo-chains.ts'
import { startTestChains } from '../../chain/testing.ts'
import { usd } from '../testing.ts'
import { encodePayment, stockClient, type X402World, x402World } from '../x402/testing.ts'
import { count, HOURLY } from './testing.ts'

/*
 * Purchases without an account as an MCP tool, and by version 1 of x402.
 */

let demo: DemoChains
let world: X402World
beforeAll(async () => {
  demo = await startTestChains()
  world = await x402World(demo, { COINRACK_RATE_PURCHASES: '1000000/min' })
  await world.look()
})
afterAll(async () => {
  await world?.close()
  await demo?.stop()
})

async function callTool(
  name: string,
  input: object,
  { payment, token }: { payment?: unknown; token?: string } = {},
) {
  const reply = await world.app.inject({
    method: 'POST',
    url: '/mcp',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2025-06-18',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    payload: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name,
        arguments: input,
        ...(payment === undefined ? {} : { _meta: { 'x402/payment': payment } }),
      },
    },
  })
  return JSON.parse(/^data: (.*)$/m.exec(reply.body)![1]!).result
}

test.each([
  ['buy_vps', HOURLY, { status: 'provisioning' }, 'get_vps_status'],
  ['buy_sandbox', {}, { state: 'running' }, 'run_code'],
] as const)(
  'default: the tool %s without a token says what to pay, and with the payment in _meta sells',
  async (name, input, made, next) => {
    const payer = await world.payer([{ symbol: 'USDC', amount: usd(1) }])
    const asked = await callTool(name, input)
    expect(asked.isError).toBe(true)
    expect(asked.structuredContent).toMatchObject({ x402Version: 2, code: 'payment_required' })

    const payment = await stockClient(payer).createPaymentPayload(asked.structuredContent)
    const paid = await callTool(name, input, { payment })
    expect(paid.isError, JSON.stringify(paid)).toBeUndefined()
    const { token, settlement, next_steps } = paid.structuredContent
    expect(paid.structuredContent).toMatchObject(made)
    expect(paid._meta['x402/payment-response']).toEqual(settlement)
    expect(next_steps[0]).toMatchObject({ tool: next, arguments: { access_token: token } })
    const used = await callTool('whoami', { access_token: token })
    expect(used.structuredContent).toMatchObject({ id: paid.structuredContent.account_id, email: null })

    const again = await callTool(name, input, { payment })
    expect(again.structuredContent.token).toBeNull()
  },
)

test('error: a tool call with a token that is not good is no purchase', async () => {
  const payer = await world.payer([{ symbol: 'USDC', amount: usd(1) }])
  const asked = await callTool('buy_vps', HOURLY)
  const payment = await stockClient(payer).createPaymentPayload(asked.structuredContent)
  for (const call of [
    callTool('buy_vps', HOURLY, { payment, token: 'crk_wrong' }),
    callTool('buy_vps', { ...HOURLY, access_token: 'crk_wrong' }, { payment }),
    callTool('order_vps', HOURLY, { payment }),
  ])
    expect(JSON.parse((await call).content[0].text).code).toBe('unauthorized')
  expect(await count(world, 'x402_payment where payer = $1', [payer.address.toLowerCase()])).toBe(0)
})

test('default: what the stock scheme of version 1 has signed is taken in X-PAYMENT', async () => {
  const payer = await world.payer([{ symbol: 'USDC', amount: usd(1) }])
  const { body: terms } = await world.ask('POST', '/x402/orders', { body: HOURLY })
  const { asset, payTo, amount, maxTimeoutSeconds, extra } = terms.accepts[0]
  const signed = await new ExactEvmSchemeV1(payer).createPaymentPayload(1, {
    ...{ scheme: 'exact', network: 'base', asset, payTo, maxTimeoutSeconds, extra },
    maxAmountRequired: amount,
    resource: terms.resource.url,
  } as never)
  const headers = { 'x-payment': encodePayment(signed) }
  const order = () => world.ask('POST', '/x402/orders', { body: HOURLY, headers })
  const { status, body, headers: answered } = await order()
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body).toMatchObject({ status: 'provisioning', token: expect.stringMatching(/^crk_/) })
  expect(answered['x-payment-response']).toBeDefined()
  // It has no secret quote, so a sender who repeats it may have read it on the chain.
  const again = await order()
  expect([again.status, again.body.code]).toEqual([409, 'payment_arrived'])
  expect(again.body.purchase.order_id).toBe(body.id)
})

test('behavior: with a token, the header of version 1 tops up', async () => {
  const payer = await world.payer([{ symbol: 'USDC', amount: usd(5) }])
  const customer = await world.customer()
  const { body: terms } = await customer.post('/balance/topup', { amount: 3, method: 'x402' })
  const { asset, payTo, amount, maxTimeoutSeconds, extra } = terms.accepts[0]
  const signed = await new ExactEvmSchemeV1(payer).createPaymentPayload(1, {
    ...{ scheme: 'exact', network: 'base', asset, payTo, maxTimeoutSeconds, extra },
    maxAmountRequired: amount,
  } as never)
  const { status, body } = await customer.post(
    '/balance/topup',
    { amount: 3 },
    { 'x-payment': encodePayment(signed) },
  )
  expect([status, body.balance]).toEqual([200, '3.00'])
})
