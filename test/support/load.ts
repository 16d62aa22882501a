import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeId } from '@coinrack/contract/ids.ts'
import { openPool } from '@coinrack/server/database/pool.ts'
import { inTransaction } from '@coinrack/server/database/transaction.ts'
import { post } from '@coinrack/server/ledger/post.ts'
import { expectBooksToBalance } from '@coinrack/server/ledger/testing.ts'
import { expect } from 'vitest'
import { type Buyer, createBuyer } from './buyer.ts'
import { chances } from './chances.ts'
import { createMeasuredClient, p99 } from './measured-client.ts'
import { openReplicas, type Replica } from './replicas.ts'

/** More than anybody asks for. */
const UNLIMITED = '100000000/s'
const LIMITS = {
  ...Object.fromEntries(
    ['ORDERS', 'TOPUPS', 'REGISTER', 'LOGIN', 'REGISTER_TOTAL', 'LOGIN_TOTAL', 'BAD_TOKENS', 'DEFAULT'].map(
      (name) => [`COINRACK_RATE_${name}`, UNLIMITED],
    ),
  ),
  COINRACK_SSH_PORTS: '1024-65535',
}
const PROVISIONED_MS = 60_000

export interface LoadOptions {
  databaseUrl: string
  buyers: number
  /** How long they are busy with one replica, and then with two. */
  seconds: { one: number; two: number }
  seed: number
}

/** The throughput that buyers got out of some replicas. */
interface LoadReport {
  requestsPerSecond: number
  /** Milliseconds. */
  p99: { reads: number; writes: number }
  reads: number
  writes: number
}

/**
 * Lets buyers do things at random on one replica and then on two, and holds against the database what they were
 * answered: what each has to spend, and which orders there are. At last the replica that tends the machines is killed.
 */
export async function runLoad({ databaseUrl, buyers, seconds, seed }: LoadOptions) {
  const replicas = await openReplicas(databaseUrl, LIMITS)
  const db = openPool(databaseUrl, { size: 8, onError: () => {} })
  const pick = numbersFrom(seed)
  const credit = (accountId: string, amount: bigint) =>
    inTransaction(db, async (tx) => {
      const at = new Date()
      await post(tx, {
        id: makeId('transaction', at.getTime(), randomBytes(10)),
        kind: 'adjustment',
        accountId,
        description: 'A gift',
        postings: [{ from: 'house.adjustments', to: 'customer.available', amount }],
        at,
      })
    })

  async function busy(origins: string[], forSeconds: number): Promise<{ all: Buyer[]; report: LoadReport }> {
    const client = createMeasuredClient()
    try {
      const market = { client, origins, pick, credit }
      const all = await Promise.all(Array.from({ length: buyers }, (_, index) => createBuyer(market, index)))
      client.durations.reads = []
      client.durations.writes = []
      const begun = performance.now()
      const end = begun + forSeconds * 1000
      await Promise.all(
        all.map(async (buyer) => {
          while (performance.now() < end) await buyer.act()
        }),
      )
      const took = (performance.now() - begun) / 1000
      const { reads, writes } = client.durations
      const report = {
        requestsPerSecond: (reads.length + writes.length) / took,
        p99: { reads: p99(reads), writes: p99(writes) },
        reads: reads.length,
        writes: writes.length,
      }
      console.log(
        `${origins.length} of the service: ${report.requestsPerSecond.toFixed(0)} requests/s, p99 of ${report.reads} reads ${report.p99.reads.toFixed(0)} ms, of ${report.writes} writes ${report.p99.writes.toFixed(0)} ms`,
      )
      for (const buyer of all) await buyer.checkBalance()
      return { all, report }
    } finally {
      client.close()
    }
  }

  /** Every order that was answered is there, was charged once or given back, and there is no other. */
  async function expectOrders(all: Buyer[]): Promise<void> {
    const end = performance.now() + PROVISIONED_MS
    const count = async (sql: string) =>
      Number((await db.query<{ count: bigint }>(`select count(*) ${sql}`)).rows[0]!.count)
    while ((await count(`from vps_order where status = 'provisioning'`)) > 0) {
      expect(performance.now(), 'Orders are not provisioned').toBeLessThan(end)
      await sleep(200)
    }
    const { rows } = await db.query<{ id: string }>(
      `select id from vps_order where status not in ('awaiting_payment', 'expired')`,
    )
    const answered = all.flatMap(({ orders }) => [...orders])
    expect(rows.map(({ id }) => id).sort()).toEqual(answered.sort())
    const { rows: wrong } = await db.query(
      `select vps_order.id, status, hold.state, hold.amount, charged.amount as charged
       from vps_order
       left join hold on hold.id = hold_id and hold.account_id = vps_order.account_id
       left join lateral (
         select count(*), sum(-held_change) as amount from ledger_transaction
         where reference = 'capture:' || vps_order.id
       ) charged on true
       where status not in ('awaiting_payment', 'expired') and not coalesce(
         hold.amount = price * months and status in ('active', 'cancelled') and case hold.state
           when 'posted' then charged.count = 1 and charged.amount = hold.amount
           when 'voided' then charged.count = 0 and status = 'cancelled'
         end, false)`,
    )
    expect(wrong).toEqual([])
    expect(await count('from vps')).toBe(answered.length)
  }

  /** The one that tends the machines is killed, and an order at the other is provisioned. */
  async function expectTakeover(first: Replica, second: Replica): Promise<void> {
    await first.kill()
    const client = createMeasuredClient()
    const [buyer, token] = await ordering(client, second.origin)
    const end = performance.now() + PROVISIONED_MS
    for (;;) {
      const path = `/services/${buyer.service_id}?wait=ssh_ready&timeout=10&reveal=false`
      const { body } = await client.ask(second.origin, 'GET', path, { token })
      if (body.status === 'active') break
      expect(performance.now(), 'Nobody tends the machines').toBeLessThan(end)
    }
    client.close()
  }

  async function ordering(client: ReturnType<typeof createMeasuredClient>, origin: string) {
    const email = `late-${randomBytes(4).toString('hex')}@rackmail.net`
    const { body } = await client.ask(origin, 'POST', '/auth/register', { body: { email } })
    await credit(body.account.id, 3_000_000n)
    const order = await client.ask(origin, 'POST', '/orders', {
      token: body.token,
      body: { product: 'nano', os_id: 1 },
    })
    expect(order.status).toBe(200)
    return [order.body, body.token] as const
  }

  try {
    const first = await replicas.start()
    const one = await busy([first.origin], seconds.one)
    const second = await replicas.start()
    const two = await busy([first.origin, second.origin], seconds.two)
    await expectOrders([...one.all, ...two.all])
    await expectBooksToBalance(db)
    // Afterwards there are some: the machines of the one that is killed are gone with it.
    expect(first.complaints() + second.complaints()).toBe('')
    await expectTakeover(first, second)
    await expectBooksToBalance(db)
    const ratio = two.report.requestsPerSecond / one.report.requestsPerSecond
    console.log(`Throughput of two to one: ${ratio.toFixed(2)}`)
    return { one: one.report, two: two.report }
  } finally {
    await replicas.stop()
    await db.end()
  }
}

/** The same numbers for the same seed. */
function numbersFrom(seed: number): (limit: number) => number {
  const chance = chances(seed)
  return (limit) => Math.floor(chance.next().value! * limit)
}
