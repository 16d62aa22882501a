import { type OperationName, operationList, operations } from '@coinrack/contract/index.ts'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DemoChains } from '../../chain/demo-chains.ts'
import { startTestChains } from '../../chain/testing.ts'
import { usd } from '../testing.ts'
import { signPayment, type X402World, x402World } from '../x402/testing.ts'
import { buy, count, HOURLY, present, signFor } from './testing.ts'
import { withKnownUsdc } from './testing-usdc.ts'

/*
 * Purchases by a caller without an account, with one signed payment.
 */

let demo: DemoChains
let world: X402World
let base: Awaited<ReturnType<typeof withKnownUsdc>>
beforeAll(async () => {
  demo = await startTestChains()
  base = await withKnownUsdc(demo)
  const chains = [base.settings, ...demo.chains.slice(1)]
  world = await x402World({ ...demo, chains }, { COINRACK_RATE_PURCHASES: '1000000/min' })
})
afterAll(async () => {
  await world?.close()
  await demo?.stop()
})
beforeEach(() => world.settle())

/** A payer with this amount of USDC on Base, and nothing else. */
async function payerWith(dollars: number) {
  const payer = privateKeyToAccount(generatePrivateKey())
  await base.give(payer.address, usd(dollars))
  return payer
}
const get = async (path: string, token: string) => (await world.ask('GET', path, { token })).body

describe('with the stock client, unmodified', () => {
  test('default: an hourly VPS for a day, with no option of the client set, in one retry', async () => {
    const { status, body, calls, headers } = await buy(world, await payerWith(1), '/x402/orders', HOURLY)
    expect([status, calls], JSON.stringify(body)).toEqual([200, 2])
    expect(body).toMatchObject({ status: 'provisioning', settlement: { success: true, amount: '108000' } })
    expect(headers.get('payment-response')).not.toBeNull()
    expect(await get('/balance', body.token)).toMatchObject({ total: '0.108', held: '0.0045' })
    expect(await get('/account', body.token)).toMatchObject({ id: body.account_id, email: null })
    await world.reconcile()
    const machine = await get(`/services/${body.service_id}`, body.token)
    expect(machine).toMatchObject({ ssh_ready: true, root_password: expect.any(String) })
    expect(machine.billing.paid_until).not.toBeNull()
    await world.expectBooksToBalance()
  })

  test('default: a VPS for the months that it asks for, once the client may pay so much', async () => {
    const order = { product: 'nano', os_id: 1, months: 2 }
    const payer = await payerWith(20)
    await expect(buy(world, payer, '/x402/orders', order)).rejects.toThrow(/spendControls/)
    const { status, body } = await buy(world, payer, '/x402/orders', order, { limit: false })
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body).toMatchObject({ total: '6.00', balance: '0.00' })
  })

  test('default: a sandbox for its timeout, at least a cent', async () => {
    const payer = await payerWith(3)
    const least = await buy(world, payer, '/x402/sandboxes', { timeout: 60 })
    expect([least.status, least.calls], JSON.stringify(least.body)).toEqual([200, 2])
    expect(least.body).toMatchObject({ state: 'running', settlement: { amount: '10000' } })
    const longer = await buy(
      world,
      payer,
      '/x402/sandboxes',
      { timeout: 7200, tariff: 'max' },
      { limit: false },
    )
    expect(longer.body).toMatchObject({ state: 'running', settlement: { amount: '1056000' } })
    expect(longer.body.account_id).toBe(least.body.account_id)
    const { body } = await world.ask('POST', `/sandboxes/${least.body.id}/run`, {
      token: longer.body.token,
      body: { language: 'python', code: 'print(1)' },
    })
    expect(body).toHaveProperty('exit_code')
  })
})

test('behavior: the terms are of every network and token that takes signatures, to one address', async () => {
  const { status, body, headers } = await world.ask('POST', '/x402/orders', { body: HOURLY })
  expect(status).toBe(402)
  expect(headers['payment-required']).toBeDefined()
  expect(new Set(body.accepts.map(({ network }: { network: string }) => network))).toEqual(
    new Set(['eip155:8453', 'eip155:1', 'eip155:137']),
  )
  expect(new Set(body.accepts.map(({ payTo }: { payTo: string }) => payTo)).size).toBe(1)
  expect(body.accepts[0]).toMatchObject({
    scheme: 'exact',
    amount: '108000',
    extra: { quote: expect.any(String) },
  })
  expect(body.resource.url).toBe(`${world.services.config.publicUrl}/x402/orders`)
})

test('behavior: all that can be paid is described where x402 is looked for', async () => {
  const { body } = await world.app.inject({ url: '/.well-known/x402' })
  const { resources, invoices, assets } = JSON.parse(body)
  const { publicUrl } = world.services.config
  expect(resources.map(({ operationId }: { operationId: string }) => operationId)).toEqual(
    operationList.flatMap(([name, op]) => (op.x402 ? [name] : [])),
  )
  for (const { url, method, account, networks, operationId } of resources) {
    expect(networks).toEqual(['eip155:8453', 'eip155:1', 'eip155:137'])
    const asked = await world.app.inject({
      method,
      url: url.replace(publicUrl, '').replace('{id}', 'vps_0'),
      headers: { 'content-type': 'application/json' },
      // The key of an example is refused: its private half does not exist.
      payload: JSON.stringify({ ...operations[operationId as OperationName].example, ssh_key: undefined }),
    })
    expect([url, asked.statusCode]).toEqual([url, account ? 401 : 402])
  }
  const { token } = await world.customer()
  const { body: topup } = await world.ask('POST', '/balance/topup', { token, body: { amount: 5 } })
  const secret = topup.checkout_url.split('/').at(-1)
  const unpaid = await world.app.inject({
    method: invoices.method,
    url: invoices.urlTemplate.replace(publicUrl, '').replace('{secret}', secret),
  })
  expect(unpaid.statusCode).toBe(402)
  const offered = (unpaid.json().accepts as { network: string; asset: string }[]).map(
    ({ network, asset }) => `${network} ${asset.toLowerCase()}`,
  )
  expect(
    (assets as { network: string; asset: string }[]).map(
      ({ network, asset }) => `${network} ${asset.toLowerCase()}`,
    ),
  ).toEqual(offered)
})

test('behavior: an account without an address is told by get_started what it is not written about', async () => {
  const { body } = await buy(world, await payerWith(1), '/x402/orders', HOURLY)
  await world.services.db.query(
    `insert into event (id, account_id, type, data, created_at) values ('evt_of_wallet', $1, 'vps.suspended', '{}', $2)`,
    [body.account_id, world.clock.now()],
  )
  expect((await get('/get-started', body.token)).you_are_here.notices).toEqual([
    { type: 'vps.suspended', at: world.clock.now().toISOString() },
  ])
  expect(await count(world, 'outgoing_mail')).toBe(0)
})

test('behavior: questions for a price leave no row and no address', async () => {
  const tables =
    'account wallet deposit_address invoice vps_order x402_payment x402_purchase x402_refusal'.split(' ')
  const rows = () => Promise.all(tables.map((table) => count(world, table)))
  const before = await rows()
  const ask = () => world.ask('POST', '/x402/orders', { body: HOURLY })
  for (let round = 0; round < 10; round++) {
    for (const { status } of await Promise.all(Array.from({ length: 5 }, ask))) expect(status).toBe(402)
  }
  expect(await rows()).toEqual(before)
})

test('behavior: refused payments leave no account', async () => {
  const poor = privateKeyToAccount(generatePrivateKey())
  const rich = await payerWith(1)
  const before = await count(world, 'account')
  const refused = [
    [await signFor(world, poor, '/x402/orders', HOURLY), 'payment_insufficient_funds'],
    [await signFor(world, rich, '/x402/orders', HOURLY, { signer: poor }), 'payment_signature_invalid'],
    [
      await signFor(world, rich, '/x402/orders', HOURLY, { authorization: { value: '1' } }),
      'payment_not_accepted',
    ],
    [
      await signFor(world, rich, '/x402/orders', HOURLY, { authorization: { to: poor.address } }),
      'payment_not_accepted',
    ],
    [
      await signFor(world, rich, '/x402/orders', HOURLY, { authorization: { validBefore: '1' } }),
      'payment_expired',
    ],
  ] as const
  for (const [payment, code] of refused) {
    const { status, body } = await present(world, '/x402/orders', HOURLY, payment)
    expect([status, body.code]).toEqual([402, code])
    expect(body.accepts).not.toEqual([])
  }
  expect(await count(world, 'account')).toBe(before)
})

describe('the quote', () => {
  test('error: it was given for another request', async () => {
    const { accepted } = await signFor(world, await payerWith(1), '/x402/orders', HOURLY)
    const payment = await signPayment(await payerWith(1), accepted)
    const other = { ...HOURLY, hostname: 'other' }
    const { status, body } = await present(world, '/x402/orders', other, payment)
    expect([status, body.code]).toEqual([402, 'payment_not_accepted'])
  })

  test('error: it is over', async () => {
    const payment = await signFor(world, await payerWith(1), '/x402/orders', HOURLY)
    world.clock.advance(600_000)
    const { status, body } = await present(world, '/x402/orders', HOURLY, payment)
    expect([status, body.code]).toEqual([402, 'payment_not_accepted'])
  })

  test('error: it is made up, or sealed with something else', async () => {
    const payment = await signFor(world, await payerWith(1), '/x402/orders', HOURLY)
    const extra = { ...payment.accepted.extra, quote: Buffer.alloc(80).toString('base64url') }
    const { body } = await present(world, '/x402/orders', HOURLY, {
      ...payment,
      accepted: { ...payment.accepted, extra },
    })
    expect(body.code).toBe('payment_not_accepted')
  })
})

describe('what cannot be had is not asked money for', () => {
  test.each([
    [{ product: 'none', os_id: 1 }, 'unknown_product'],
    [{ product: 'nano', os_id: 99 }, 'os_not_supported'],
    [{ ...HOURLY, ssh_key: 'ssh-rsa AAAA' }, 'invalid_ssh_key'],
    [{ ...HOURLY, ssh_key: 'key_01kabcdefghjkmnpqrstvwxyz0' }, 'invalid_ssh_key'],
    [{ ...HOURLY, user_data: 'hello' }, 'invalid_user_data'],
    [{ ...HOURLY, max_price: '0.05' }, 'price_above_maximum'],
    [{ ...HOURLY, quote_id: 'a' }, 'quote_invalid'],
    [{ ...HOURLY, dry_run: true }, 'invalid_input'],
    [{ ...HOURLY, months: 2 }, 'invalid_input'],
  ])('error: %j is %s', async (order, code) => {
    const { status, body } = await world.ask('POST', '/x402/orders', { body: order })
    expect([status, body.code]).toEqual([422, code])
  })

  test('error: no room on the host', async () => {
    await world.hostSays({ capacity: { vcpus: 0, memoryMb: 0, diskGb: 0 } })
    try {
      const { status, body } = await world.ask('POST', '/x402/orders', { body: HOURLY })
      expect([status, body.code]).toEqual([503, 'capacity'])
    } finally {
      await world.hostSays()
    }
  })
})

describe('a token', () => {
  test('error: one that is not good is 401 at both doors, and never a purchase', async () => {
    const payment = await signFor(world, await payerWith(1), '/x402/orders', HOURLY)
    for (const path of ['/orders', '/x402/orders', '/sandboxes', '/x402/sandboxes'] as const) {
      const { status } = await present(world, path, HOURLY, payment, { authorization: 'Bearer crk_wrong' })
      expect(status, path).toBe(401)
    }
    const { token } = await world.customer()
    await world.ask('POST', '/auth/logout', { token })
    expect((await world.ask('POST', '/x402/orders', { token, body: HOURLY })).status).toBe(401)
    expect(
      await count(world, 'x402_payment where payer = $1', [payment.payload.authorization.from.toLowerCase()]),
    ).toBe(0)
  })

  test.each([
    ['/orders', 'buy_vps', '/x402/orders'],
    ['/sandboxes', 'buy_sandbox', '/x402/sandboxes'],
  ])('error: none at all is 401 at %s, which names the other door', async (path, tool, door) => {
    const { status, body } = await world.ask('POST', path, { body: HOURLY })
    expect(status).toBe(401)
    expect(body.fix).toContain(door)
    expect(body.next_steps.map((step: { tool: string }) => step.tool)).toContain(tool)
  })

  test('behavior: that of a purchase was given for no log-in', async () => {
    const { body } = await buy(world, await payerWith(1), '/x402/sandboxes', {})
    const { rows } = await world.services.db.query(
      'select authenticated_at from token where account_id = $1',
      [body.account_id],
    )
    expect(rows).toEqual([{ authenticated_at: new Date(0) }])
  })
})
