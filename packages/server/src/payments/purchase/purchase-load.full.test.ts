import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DemoChains } from '../../chain/demo-chains.ts'
import { startTestChains } from '../../chain/testing.ts'
import { usd } from '../testing.ts'
import { type X402World, x402World } from '../x402/testing.ts'
import { count, HOURLY, present, signFor } from './testing.ts'

/*
 * Slow tests of purchases without an account.
 */

const PROBES = 10_000
const AT_ONCE = 20

let demo: DemoChains
let world: X402World
beforeAll(async () => {
  demo = await startTestChains()
  world = await x402World(demo, { COINRACK_RATE_PURCHASES: '1000000/min' })
})
afterAll(async () => {
  await world?.close()
  await demo?.stop()
})

test('behavior: ten thousand questions for a price leave no row in any table but that of the limits', async () => {
  const { rows: tables } = await world.services.db.query<{ table_name: string }>(
    `select table_name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'rate_bucket'`,
  )
  const rows = () => Promise.all(tables.map(({ table_name }) => count(world, table_name)))
  const before = await rows()
  for (let asked = 0; asked < PROBES; asked += AT_ONCE) {
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, () => world.ask('POST', '/x402/orders', { body: HOURLY })),
    )
    expect(answers.every(({ status }) => status === 402)).toBe(true)
  }
  expect(await rows()).toEqual(before)
}, 1_200_000)

test('behavior: a transaction that waits for its block is pending, and is bought with afterwards', async () => {
  const payer = await world.payer([{ symbol: 'USDC', amount: usd(1) }])
  const gasWallet = world.services.chains[0]!.gasWallet!
  const { broadcast } = gasWallet
  const payment = await signFor(world, payer, '/x402/orders', HOURLY)
  const order = () => present(world, '/x402/orders', HOURLY, payment)
  gasWallet.broadcast = async () => {}
  const { status, body } = await order()
  expect([status, body.code]).toEqual([409, 'payment_pending'])
  gasWallet.broadcast = broadcast
  const again = await order()
  expect(again.status, JSON.stringify(again.body)).toBe(200)
  expect(again.body.token).toMatch(/^crk_/)
}, 90_000)
