import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DemoChains } from '../chain/demo-chains.ts'
import { startTestChains, testWallet } from '../chain/testing.ts'
import { type PaymentsWorld, paymentsWorld, usd } from '../payments/testing.ts'
import { decideOn, ownerOf, refused } from './testing.ts'

/*
 * Orders and renewals that are paid by money which arrives for their invoice, on real chains: no way round an approval, and
 * none in the way of one that was given.
 */

let demo: DemoChains
let world: PaymentsWorld
let wallet: ReturnType<typeof testWallet>

beforeAll(async () => {
  demo = await startTestChains()
  world = await paymentsWorld(demo.chains, { COINRACK_RATE_ORDERS: '1000/min' })
  wallet = testWallet(demo.chains[0]!, demo.demo.faucet_key)
})
afterAll(async () => {
  await demo.stop()
  await world?.close()
})

const ORDER = { hostname: 'web' }
const pay = async (invoice: { payment_options: { address: `0x${string}` }[] }) => {
  await wallet.pay('USDC', invoice.payment_options[0]!.address, usd(3))
  await world.settle()
}
const invoiceOf = async (owner: { token: string }, { id }: { id: string }) =>
  (await world.ask('GET', `/invoices/${id}`, { token: owner.token })).body

test('default: an approved order that waits for its money begins when that comes, however late, and is charged once', async () => {
  const owner = await ownerOf(world, 0n)
  const agent = await owner.agent({ per_call: '1.00' })
  const id = refused(await owner.order(agent, ORDER))
  await decideOn(world, id, 'approved')
  const unpaid = await owner.order(agent, ORDER)
  expect(unpaid.status).toBe(402)
  world.clock.advance(3_600_000)
  expect(await owner.show(id)).toMatchObject({ status: 'approved' })
  await pay(unpaid.body.invoice)
  expect(await invoiceOf(owner, unpaid.body.invoice)).toMatchObject({ status: 'paid' })
  expect(await owner.show(id)).toMatchObject({ status: 'spent' })
  const [token] = (await world.ask('GET', '/tokens', { token: agent.token })).body
  expect(token.spent).toMatchObject({ total: '3.00', unapproved_today: '0.00' })
})

test('behavior: the same call again uses it too, when the balance is what was filled', async () => {
  const owner = await ownerOf(world, 0n)
  const agent = await owner.agent({ per_call: '1.00' })
  await decideOn(world, refused(await owner.order(agent, ORDER)), 'approved')
  const unpaid = await owner.order(agent, ORDER)
  await world.credit(owner.accountId, usd(6))
  world.clock.advance(3_600_000)
  expect((await owner.order(agent, ORDER)).status).toBe(200)
  refused(await owner.order(agent, ORDER))
  // What comes for the invoice all the same is on the balance.
  await pay(unpaid.body.invoice)
  expect((await world.ask('GET', '/balance', { token: owner.token })).body).toMatchObject({ balance: '6.00' })
})

test('error: money that arrives begins nothing above a limit that nobody approved: it is on the balance, with the reason', async () => {
  const owner = await ownerOf(world, 0n)
  const agent = await owner.agent({ per_call: '5.00' })
  const unpaid = await owner.order(agent, ORDER)
  expect(unpaid.status).toBe(402)
  await world.ask('PATCH', `/tokens/${agent.id}`, {
    token: owner.token,
    body: { budget: { approve_above: { per_call: '1.00' } } },
  })
  await pay(unpaid.body.invoice)
  expect(await invoiceOf(owner, unpaid.body.invoice)).toMatchObject({
    status: 'settled_to_balance',
    closed_reason: expect.stringContaining("without the approval of the account's owner"),
  })
  expect((await world.ask('GET', '/balance', { token: owner.token })).body).toMatchObject({
    balance: '3.00',
    held: '0.00',
  })
})

test('error: a payment that comes with a call above a limit is not taken', async () => {
  const owner = await ownerOf(world, 0n)
  const agent = await owner.agent({ per_call: '1.00' })
  const reply = await world.ask('POST', '/orders', {
    token: agent.token,
    body: { product: 'nano', os_id: 1 },
    headers: { 'payment-signature': Buffer.from('{}').toString('base64') },
  })
  refused(reply)
  const { rows } = await world.services.db.query('select from x402_payment where account_id = $1', [
    owner.accountId,
  ])
  expect(rows).toEqual([])
  const { rows: invoices } = await world.services.db.query('select from invoice where account_id = $1', [
    owner.accountId,
  ])
  expect(invoices).toEqual([])
})

test('behavior: an approved renewal that waits for its money is made when that comes', async () => {
  const owner = await ownerOf(world, 0n)
  await world.credit(owner.accountId, usd(3))
  const { body } = await owner.order(owner, ORDER)
  await world.reconcile()
  const agent = await owner.agent({ per_call: '1.00' })
  const renew = () => owner.post(agent, `/services/${body.service_id}/renew`, { months: 1 })
  const id = refused(await renew())
  await decideOn(world, id, 'approved')
  const unpaid = await renew()
  expect(unpaid.status).toBe(402)
  await pay(unpaid.body.invoice)
  expect(await invoiceOf(owner, unpaid.body.invoice)).toMatchObject({ status: 'paid' })
})
