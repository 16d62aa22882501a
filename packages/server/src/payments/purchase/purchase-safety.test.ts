import { randomBytes } from 'node:crypto'
import type { Hash } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DemoChains } from '../../chain/demo-chains.ts'
import type { GasWallet } from '../../chain/gas-wallet.ts'
import { startTestChains, testWallet } from '../../chain/testing.ts'
import { usd } from '../testing.ts'
import { type Payer, type SignedPayment, sendElsewhere, type X402World, x402World } from '../x402/testing.ts'
import { count, HOURLY, OTHER_SSH_KEY, present, rebuilt, signFor } from './testing.ts'

/*
 * A payment is public once it is mined: only its signer gets what it has bought, and one payment buys one thing.
 */

const ORDERS = '/x402/orders'
const THIEF = { ...HOURLY, ssh_key: OTHER_SSH_KEY }

let demo: DemoChains
let world: X402World
let payer: Payer
let gasWallet: GasWallet
let broadcast: GasWallet['broadcast']
beforeAll(async () => {
  demo = await startTestChains()
  world = await x402World(demo, { COINRACK_RATE_PURCHASES: '1000000/min' })
  gasWallet = world.services.chains[0]!.gasWallet!
  broadcast = gasWallet.broadcast
})
afterAll(async () => {
  await world?.close()
  await demo?.stop()
})
beforeEach(async () => {
  await world.settle()
  payer = await world.payer([{ symbol: 'USDC', amount: usd(1) }])
})
afterEach(() => {
  gasWallet.broadcast = broadcast
})

const wallet = () => testWallet(demo.chains[0]!, demo.demo.faucet_key)
const sign = () => signFor(world, payer, ORDERS, HOURLY)
const presentOrder = (payment: unknown, body: object = HOURLY, headers: Record<string, string> = {}) =>
  present(world, ORDERS, body, payment, headers)
const secretKey = () => randomBytes(16).toString('hex')

/** Asserts how often the payer was charged, and how many machines were started for it. */
async function expectBought(machines: number, { times = 1 } = {}) {
  await world.settle()
  expect(await wallet().balance('USDC', payer.address)).toBe(usd(1) - BigInt(times) * usd(0.108))
  const { rows } = await world.services.db.query<{ account_id: string }>(
    'select account_id from wallet where address = $1',
    [payer.address.toLowerCase()],
  )
  expect(rows).toHaveLength(1)
  const accountId = rows[0]!.account_id
  expect(await count(world, 'vps_order where account_id = $1', [accountId])).toBe(machines)
  expect(await world.deposits(accountId)).toHaveLength(times)
  const { rows: balances } = await world.services.db.query(
    'select available + held as total from customer_balance where account_id = $1',
    [accountId],
  )
  expect(balances).toEqual([{ total: BigInt(times) * usd(0.108) }])
  await world.expectBooksToBalance()
  return accountId
}

/** Logs in by wallet. */
async function logIn() {
  const { body } = await world.ask('POST', '/x402/login/challenge', { body: { address: payer.address } })
  const signature = await payer.signMessage({ message: body.message })
  return (await world.ask('POST', '/x402/login', { body: { message: body.message, signature } })).body
}

const noSecret = (body: object) => expect(JSON.stringify(body)).not.toMatch(/crk_|root_password/)

describe('a header that was made from the mined transaction', () => {
  let payment: SignedPayment
  let stolen: SignedPayment
  let bought: Awaited<ReturnType<typeof presentOrder>>
  beforeEach(async () => {
    payment = await sign()
    bought = await presentOrder(payment)
    expect(bought.status, JSON.stringify(bought.body)).toBe(200)
    stolen = await rebuilt(wallet(), bought.body.settlement.transaction as Hash, payment)
    expect(stolen.payload).toEqual(payment.payload)
  })

  test('behavior: with the same request it is told that this was bought, without a secret', async () => {
    const { status, body } = await presentOrder(stolen)
    expect([status, body.code]).toEqual([409, 'payment_arrived'])
    expect(body.purchase).toEqual({ order_id: bought.body.id, sandbox_id: null, status: 'begun' })
    noSecret(body)
    await expectBought(1)
  })

  test('behavior: with another SSH key it begins no machine and is given no token', async () => {
    for (const header of [stolen, payment]) {
      const { status, body } = await presentOrder(header, THIEF)
      expect([status, body.code]).toEqual([409, 'payment_used'])
      noSecret(body)
    }
    await expectBought(1)
  })

  test('behavior: with a quote of its own, and with a key of its own, neither', async () => {
    const { body: terms } = await world.ask('POST', ORDERS, { body: HOURLY })
    const accepted = { ...stolen.accepted, extra: terms.accepts[0].extra }
    const headers = { 'idempotency-key': secretKey() }
    const { status, body } = await presentOrder({ ...stolen, accepted }, HOURLY, headers)
    expect(status).toBe(409)
    noSecret(body)
    await expectBought(1)
  })
})

test('behavior: what somebody else sent before it was presented buys nothing for whoever presents it', async () => {
  const payment = await sign()
  const hash = await sendElsewhere(wallet(), payment)
  const stolen = await rebuilt(wallet(), hash, payment)
  for (const [header, order] of [
    [stolen, THIEF],
    [stolen, HOURLY],
    [payment, HOURLY],
  ] as const) {
    const { status, body } = await presentOrder(header, order)
    expect([status, body.code]).toEqual([409, 'payment_arrived'])
    noSecret(body)
  }
  const accountId = await expectBought(0)
  expect((await logIn()).account.id).toBe(accountId)
})

test('behavior: money that arrives there by any way is of the wallet that it comes from', async () => {
  const { accepted } = await sign()
  const stranger = wallet()
  await stranger.pay('USDC', accepted.payTo, usd(0.5))
  await world.settle()
  const { rows } = await world.services.db.query(
    `select available from customer_balance join wallet using (account_id) where address = $1`,
    [stranger.client.account.address.toLowerCase()],
  )
  expect(rows).toEqual([{ available: usd(0.5) }])
})

test('behavior: the same payment again is the same purchase, and shows the token no more', async () => {
  const payment = await sign()
  const first = await presentOrder(payment)
  expect(first.body.token).toMatch(/^crk_/)
  const again = await presentOrder(payment)
  expect(again.status).toBe(200)
  expect(again.body).toMatchObject({ id: first.body.id, token: null, settlement: first.body.settlement })
  noSecret(again.body)
  await expectBought(1)
})

test('behavior: a secret key shows the token again, another one does not', async () => {
  const payment = await sign()
  const headers = { 'idempotency-key': secretKey() }
  const first = await presentOrder(payment, HOURLY, headers)
  const again = await presentOrder(payment, HOURLY, headers)
  expect(again.body).toMatchObject({ id: first.body.id, token: first.body.token })
  expect(again.body.token_expires_at).toBe(first.body.token_expires_at)
  const other = await presentOrder(payment, HOURLY, { 'idempotency-key': secretKey() })
  expect(other.body.token).toBeNull()
  await expectBought(1)
})

test.each(['order-1', '0'.repeat(64), '12345678901234567890', 'abcdefghijklmnopqrst'])(
  'error: the key %s can be guessed, and is refused before anything is taken',
  async (key) => {
    const { status, body } = await presentOrder(await sign(), HOURLY, { 'idempotency-key': key })
    expect([status, body.code]).toEqual([422, 'invalid_input'])
    expect(await wallet().balance('USDC', payer.address)).toBe(usd(1))
  },
)

test('behavior: twenty copies at once are one machine, one charge and one token', async () => {
  const payment = await sign()
  const answers = await Promise.all(Array.from({ length: 20 }, () => presentOrder(payment)))
  expect(new Set(answers.map(({ status }) => status)), JSON.stringify(answers[0]!.body)).toEqual(
    new Set([200]),
  )
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  expect(answers.filter(({ body }) => body.token !== null)).toHaveLength(1)
  await expectBought(1)
})

test('behavior: twenty copies with twenty SSH keys are one machine, and nobody else has a token', async () => {
  const payment = await sign()
  const bodies = Array.from({ length: 20 }, (_each, index) => ({ ...HOURLY, hostname: `host-${index}` }))
  const answers = await Promise.all(
    bodies.map(async (body) => {
      const { accepted } = await signFor(world, payer, ORDERS, body)
      return presentOrder({ ...payment, accepted }, body)
    }),
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(19)
  await expectBought(1)
})

test('behavior: sent by somebody else while the service sends it, it is one machine and one charge', async () => {
  const payment = await sign()
  gasWallet.broadcast = async (raw) => {
    await sendElsewhere(wallet(), payment)
    await broadcast(raw)
  }
  const { status, body } = await presentOrder(payment)
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body.token).toMatch(/^crk_/)
  await expectBought(1)
})

test('behavior: an answer that was lost leads to no second charge, also when the client signs anew', async () => {
  const payment = await sign()
  const first = await presentOrder(payment)
  // As if the caller had hung up before the answer.
  await world.services.db.query('update x402_payment set told_at = null')
  const { status, body } = await presentOrder(await sign())
  expect(status).toBe(200)
  expect(body).toMatchObject({ id: first.body.id, token: null, settlement: first.body.settlement })
  const accountId = await expectBought(1)
  expect((await logIn()).account.id).toBe(accountId)
  // The payer was told of that payment, so an equal order is a new one.
  expect((await presentOrder(await sign())).status).toBe(200)
  await expectBought(2, { times: 2 })
})

describe('a call that ended in the middle', () => {
  /** Fails once between the credit and the order, like a service that is killed. */
  async function killedBeforeTheOrder(payment: SignedPayment, headers = {}) {
    const { sealer } = world.services
    const { seal } = sealer
    sealer.seal = (text, purpose) => {
      if (purpose.startsWith('ssh-host-key:')) throw new Error('Killed')
      return seal(text, purpose)
    }
    try {
      expect((await presentOrder(payment, HOURLY, headers)).status).toBe(500)
    } finally {
      sealer.seal = seal
    }
  }

  test('behavior: the same payment goes on with it, and is given the token', async () => {
    const payment = await sign()
    await killedBeforeTheOrder(payment)
    await expectBought(0)
    const { status, body } = await presentOrder(payment)
    expect(status).toBe(200)
    expect(body.token).toMatch(/^crk_/)
    await expectBought(1)
  })

  test('behavior: whoever made the header from the chain does not', async () => {
    const payment = await sign()
    await killedBeforeTheOrder(payment)
    const { rows } = await world.services.db.query<{ tx_hash: Hash }>(
      'select tx_hash from x402_payment where payer = $1',
      [payer.address.toLowerCase()],
    )
    const stolen = await rebuilt(wallet(), rows[0]!.tx_hash, payment)
    const { status, body } = await presentOrder(stolen)
    expect([status, body.purchase.status]).toEqual([409, 'paid'])
    noSecret(body)
    await expectBought(0)
  })
})

test('behavior: what can no longer be begun is on the balance, and no 402 asks for more', async () => {
  const payment = await sign()
  const { gasWallet } = world.services.chains[0]!
  const { broadcast } = gasWallet!
  // The capacity runs out after the price was given.
  gasWallet!.broadcast = async (raw) => {
    await world.hostSays({ capacity: { vcpus: 0, memoryMb: 0, diskGb: 0 } })
    await broadcast(raw)
  }
  try {
    const { status, body } = await presentOrder(payment)
    expect([status, body.code, body.refused]).toEqual([409, 'payment_arrived', 'capacity'])
    noSecret(body)
  } finally {
    gasWallet!.broadcast = broadcast
    await world.hostSays()
  }
  await expectBought(0)
  const { token } = await logIn()
  expect((await world.ask('GET', '/balance', { token })).body.balance).toBe('0.108')
  expect((await presentOrder(payment)).status).toBe(200)
  await expectBought(1)
})

test('behavior: a sandbox that does not start is not paid, and the payment is good for another try', async () => {
  const path = '/x402/sandboxes'
  const payment = await signFor(world, payer, path, {})
  const { runtime } = world
  const { ensure } = runtime
  runtime.ensure = (spec) => ensure({ ...spec, env: { FAKE: 'no-space' } })
  try {
    const { status, body } = await present(world, path, {}, payment)
    expect([status, body.code], JSON.stringify(body)).toEqual([409, 'payment_arrived'])
  } finally {
    runtime.ensure = ensure
  }
  const again = await present(world, path, {}, payment)
  expect(again.status, JSON.stringify(again.body)).toBe(200)
  expect(again.body).toMatchObject({ state: 'running', token: expect.stringMatching(/^crk_/) })
})
