import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { DemoChains } from '@coinrack/server/chain/demo-chains.ts'
import { startTestChains } from '@coinrack/server/chain/testing.ts'
import { usd } from '@coinrack/server/payments/testing.ts'
import { settlePayments } from '@coinrack/server/payments/x402/settle-payments.ts'
import {
  encodePayment,
  signPayment,
  termsOf,
  type X402World,
  x402World,
} from '@coinrack/server/payments/x402/testing.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'

const killed = fileURLToPath(new URL('support/killed-while-paid.ts', import.meta.url))

let demo: DemoChains
let world: X402World
beforeAll(async () => {
  demo = await startTestChains()
  world = await x402World(demo)
  await world.look()
})
afterAll(async () => {
  await demo.stop()
  await world?.close()
})

test.each(['before', 'after'])(
  'behavior: a service that is killed %s the broadcast leaves a payment that the next one credits once',
  async (point) => {
    const customer = await world.customer()
    const payer = await world.payer([{ symbol: 'USDC', amount: usd(10) }])
    const payment = encodePayment(await signPayment(payer, await termsOf(customer, { amount: 5 })))
    const settings = demo.chains[0]!
    const { token } = customer
    const { databaseUrl, key } = world
    const input = { databaseUrl, settings, key, token, payment, amount: 5, point }
    // Money in the settings is written as text; this service credits nothing.
    const text = JSON.stringify(input, (_name, value) => (typeof value === 'bigint' ? String(value) : value))
    const service = spawn(process.execPath, [killed, text], { stdio: ['ignore', 'inherit', 'inherit'] })
    expect(await once(service, 'exit')).toEqual([null, 'SIGKILL'])
    expect((await customer.balance()).available).toBe(0n)

    // A client that signs anew is told of the first one, and pays nothing.
    const another = encodePayment(await signPayment(payer, await termsOf(customer, { amount: 5 })))
    const anew = { 'payment-signature': another }
    expect(await customer.post('/balance/topup', { amount: 5 }, anew)).toMatchObject({
      status: 409,
      body: { code: point === 'before' ? 'payment_pending' : 'payment_arrived' },
    })

    const chain = world.services.chains[0]!
    await settlePayments(world.services, chain)
    await settlePayments(world.services, chain)
    await world.settle()
    await world.settle()
    expect((await customer.balance()).available).toBe(usd(5))
    expect(await world.deposits(customer.accountId)).toMatchObject([{ status: 'credited', credits: 1 }])
    expect((await customer.get('/invoices')).body).toMatchObject([{ status: 'paid', received: '5.00' }])
    const again = { 'payment-signature': payment }
    expect(await customer.post('/balance/topup', { amount: 5 }, again)).toMatchObject({
      status: 200,
      body: { balance: '5.00', settlement: { success: true } },
    })
    await world.expectBooksToBalance()
  },
)
