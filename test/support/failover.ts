import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeId } from '@coinrack/contract/ids.ts'
import { migrate } from '@coinrack/server/database/migrate.ts'
import { openPool } from '@coinrack/server/database/pool.ts'
import { inTransaction } from '@coinrack/server/database/transaction.ts'
import { post } from '@coinrack/server/ledger/post.ts'
import { expectBooksToBalance } from '@coinrack/server/ledger/testing.ts'
import { expect } from 'vitest'
import { chances } from './chances.ts'
import { startLoadBalancer } from './load-balancer.ts'
import { createMeasuredClient } from './measured-client.ts'
import { startPostgresPair } from './postgres-pair.ts'
import { openReplicas } from './replicas.ts'
import { createStubbornBuyer, type Refusals } from './stubborn-buyer.ts'

const UNLIMITED = '100000000/s'
const LIMITS = {
  ...Object.fromEntries(
    ['ORDERS', 'TOPUPS', 'REGISTER', 'LOGIN', 'REGISTER_TOTAL', 'DEFAULT'].map((name) => [
      `COINRACK_RATE_${name}`,
      UNLIMITED,
    ]),
  ),
  COINRACK_SSH_PORTS: '1024-65535',
}
/** How long an operator's watcher takes to see that the primary is gone. */
const NOTICED_MS = 1_000
const PROVISIONED_MS = 90_000
const UNIQUE_VIOLATION = '23505'

/**
 * Buyers at two replicas behind nginx, over PostgreSQL with a synchronous standby. The primary is killed under the load as
 * often as asked, and the standby takes its place; then what was answered is held against the database.
 */
export async function runFailovers(options: {
  buyers: number
  failovers: number
  seconds: number
  seed: number
}) {
  const pair = await startPostgresPair()
  const db = openPool(pair.url, { size: 4, onError: () => {} })
  await migrate(db)
  const replicas = await openReplicas(pair.url, LIMITS)
  const client = createMeasuredClient()
  const refusals: Refusals = { byCode: {}, at: [] }
  const chance = chances(options.seed)
  const pick = (limit: number) => Math.floor(chance.next().value! * limit)
  const ended: (() => Promise<void>)[] = []
  try {
    const machines = await replicas.start()
    const elsewhere = await replicas.start('elsewhere')
    const { origin, stop } = await startLoadBalancer('nginx', [machines.origin, elsewhere.origin])
    ended.push(stop)
    const market = { client, origin, refusals, pick }
    const buyers = await Promise.all(
      Array.from({ length: options.buyers }, () => createStubbornBuyer(market, creditWith(db))),
    )
    const load = { goesOn: true }
    const busy = Promise.all(
      buyers.map(async (buyer) => {
        while (load.goesOn) await buyer.act()
      }),
    )
    const spans: number[] = []
    for (let count = 1; count <= options.failovers; count++) {
      await sleep(options.seconds * 1000)
      const killedAt = performance.now()
      await pair.killPrimary()
      await sleep(NOTICED_MS)
      await pair.promote()
      await sleep(options.seconds * 1000)
      spans.push((Math.max(killedAt, ...refusals.at) - killedAt) / 1000)
      if (count < options.failovers) await pair.rejoin()
    }
    load.goesOn = false
    await busy
    for (const buyer of buyers) await buyer.check()

    const rows = async (sql: string) => (await db.query(sql)).rows
    const end = performance.now() + PROVISIONED_MS
    while ((await rows(`select from vps_order where status = 'provisioning'`)).length > 0) {
      expect(performance.now(), 'Orders are not provisioned').toBeLessThan(end)
      await sleep(200)
    }
    const orders = await rows(`select id from vps_order where status = 'active'`)
    const answered = buyers.flatMap((buyer) => buyer.orders)
    expect(orders.map(({ id }) => id).sort()).toEqual(answered.sort())
    const invoices = await rows('select id from invoice')
    expect(invoices.map(({ id }) => id).sort()).toEqual(buyers.flatMap((buyer) => buyer.invoices).sort())
    const charges = await rows(
      `select vps_order.id from vps_order where status = 'active' and (
         select count(*) from ledger_transaction where reference = 'capture:' || vps_order.id
       ) <> 1`,
    )
    expect(charges).toEqual([])
    await expectBooksToBalance(db)
    const report = {
      orders: orders.length,
      invoices: invoices.length,
      seconds: spans,
      refusals: refusals.byCode,
    }
    console.log(
      `${report.orders} orders and ${report.invoices} invoices, none lost and none twice. Seconds until the last refusal after each kill: ${spans.map((span) => span.toFixed(1)).join(', ')}. Told: ${JSON.stringify(report.refusals)}`,
    )
    return report
  } finally {
    client.close()
    for (const end of ended) await end()
    await replicas.stop()
    await db.end()
    await pair.stop()
  }
}

/** Puts money on a balance, as often as it takes: a commit without an answer is looked for by its number. */
const creditWith = (db: ReturnType<typeof openPool>) => async (accountId: string, amount: bigint) => {
  const at = new Date()
  const id = makeId('transaction', at.getTime(), randomBytes(10))
  for (;;) {
    try {
      await inTransaction(db, (tx) =>
        post(tx, {
          id,
          kind: 'adjustment',
          accountId,
          description: 'A gift',
          postings: [{ from: 'house.adjustments', to: 'customer.available', amount }],
          at,
        }),
      )
      return
    } catch (error) {
      if ((error as { code?: string }).code === UNIQUE_VIOLATION) return
      await sleep(100)
    }
  }
}
