import { Receipt } from 'mppx'
import { evm, Mppx } from 'mppx/client'
import { assets } from 'mppx/evm/client'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DemoChains } from '../../chain/demo-chains.ts'
import { startTestChains } from '../../chain/testing.ts'
import { usd } from '../testing.ts'
import { type X402World, x402World } from '../x402/testing.ts'
import { count, HOURLY } from './testing.ts'
import { withKnownUsdc } from './testing-usdc.ts'

/*
 * Purchases with the stock client of the Machine Payments Protocol, unmodified.
 */

let demo: DemoChains
let world: X402World
let base: Awaited<ReturnType<typeof withKnownUsdc>>
beforeAll(async () => {
  demo = await startTestChains()
  base = await withKnownUsdc(demo)
  world = await x402World({ ...demo, chains: [base.settings] }, { COINRACK_RATE_PURCHASES: '1000000/min' })
  // The client reads the system clock, so the test clock is set to it.
  world.clock.advance(Date.now() - world.clock.now().getTime())
})
afterAll(async () => {
  await world?.close()
  await demo?.stop()
})

/** Buys with mppx, and returns the requests that it sent. */
async function buy(path: string, body: object) {
  const account = privateKeyToAccount(generatePrivateKey())
  await base.give(account.address, usd(1))
  const sent: Headers[] = []
  const client = Mppx.create({
    polyfill: false,
    fetch: (input, init) => {
      sent.push(new Headers(init?.headers))
      return fetch(input, init)
    },
    methods: [evm.charge({ account, currencies: [assets.base.USDC], maxAmount: '1' })],
  })
  const send = () =>
    client.fetch(world.origin + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const reply = await send()
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any part of it
  return { account, reply, sent, body: (await reply.json()) as any }
}

test.each([
  ['/x402/orders', HOURLY, '108000', { status: 'provisioning' }],
  ['/x402/sandboxes', {}, '10000', { state: 'running' }],
] as const)(
  'default: it pays for %s in one retry, by the scheme Payment',
  async (path, asked, amount, made) => {
    const { reply, sent, body } = await buy(path, asked)
    expect(reply.status, JSON.stringify(body)).toBe(200)
    expect(sent).toHaveLength(2)
    expect(sent[1]!.get('authorization')).toMatch(/^Payment /)
    expect(sent[1]!.has('payment-signature')).toBe(false)
    expect(body).toMatchObject({ ...made, settlement: { amount }, token: expect.stringMatching(/^crk_/) })
    expect(Receipt.fromResponse(reply)).toMatchObject({
      method: 'evm',
      status: 'success',
      reference: body.settlement.transaction,
    })
    await world.settle()
    await world.expectBooksToBalance()
  },
)

test('behavior: the same credential again is the same purchase, and with another request none', async () => {
  const { sent, body } = await buy('/x402/orders', HOURLY)
  const headers = { authorization: sent[1]!.get('authorization')! }
  const orders = await count(world, 'vps_order')
  const again = await world.ask('POST', '/x402/orders', { body: HOURLY, headers })
  expect([again.status, again.body.id, again.body.token]).toEqual([200, body.id, null])
  const other = await world.ask('POST', '/x402/orders', { body: { ...HOURLY, hostname: 'other' }, headers })
  expect([other.status, other.body.code]).toEqual([409, 'payment_used'])
  expect(await count(world, 'vps_order')).toBe(orders)
})

test.each(['Payment !', `Payment ${Buffer.from('{}').toString('base64url')}`])(
  'error: what cannot be read pays nothing: %s',
  async (authorization) => {
    const { status, body } = await world.ask('POST', '/x402/orders', {
      body: HOURLY,
      headers: { authorization },
    })
    expect([status, body.code]).toEqual([400, 'payment_malformed'])
  },
)
