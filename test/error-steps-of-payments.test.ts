import type { DemoChains } from '@coinrack/server/chain/demo-chains.ts'
import { startTestChains } from '@coinrack/server/chain/testing.ts'
import { type X402World, x402World } from '@coinrack/server/payments/x402/testing.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CodeOfPayments, codesOfPayments } from './support/errors/codes-of-payments.ts'
import { paymentRows } from './support/errors/payment-rows.ts'
import { refundRows } from './support/errors/refund-rows.ts'
import { type Row, walk } from './support/errors/walk.ts'

/*
 * The same as error-steps.test.ts, for the codes that need a chain: its nodes are real.
 */

let demo: DemoChains
let world: X402World
let rows: Record<CodeOfPayments, Row>
beforeAll(async () => {
  demo = await startTestChains()
  world = await x402World(demo, {
    COINRACK_RATE_TOPUPS: '100000/min',
    COINRACK_RATE_LOGIN: '100000/min',
    COINRACK_RATE_ORDERS: '100000/min',
  })
  await world.look()
  rows = { ...paymentRows(world, demo), ...refundRows(world, demo) }
})
afterAll(async () => {
  await demo?.stop()
  await world?.close()
})

test('default: every code of payments has a row', () => {
  expect(Object.keys(rows).sort()).toEqual([...codesOfPayments].sort())
})

describe('a refusal leads on', () => {
  test.each(codesOfPayments)('error: %s', async (code) => {
    await walk(code, rows[code])
  })
})
