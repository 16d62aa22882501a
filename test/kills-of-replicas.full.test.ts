import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeId } from '@coinrack/contract/ids.ts'
import { openPool } from '@coinrack/server/database/pool.ts'
import { createTestDatabase } from '@coinrack/server/database/testing.ts'
import { inTransaction } from '@coinrack/server/database/transaction.ts'
import { post } from '@coinrack/server/ledger/post.ts'
import { expectBooksToBalance } from '@coinrack/server/ledger/testing.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KillPoint } from './support/kill-at.ts'
import { createMeasuredClient, type MeasuredAnswer } from './support/measured-client.ts'
import { openReplicas, type Replica, type Replicas } from './support/replicas.ts'
import { openSharedHost, type SharedHost } from './support/shared-host.ts'

/*
 * A replica is killed in each step of a create, while another one goes on: there is one machine and one charge, or none and
 * the money is back. The host is a fake, which outlives them both.
 */

const PRICE = 3_000_000n
const DONE_MS = 60_000

let database: Awaited<ReturnType<typeof createTestDatabase>>
let db: ReturnType<typeof openPool>
let replicas: Replicas
let host: SharedHost
let folder: string
const client = createMeasuredClient()
/** Told of each call to the host. */
let watch: Parameters<typeof openSharedHost>[1] = () => {}

beforeAll(async () => {
  database = await createTestDatabase()
  db = openPool(database.url, { size: 4, onError: () => {} })
  folder = await mkdtemp(join(tmpdir(), 'shared-host-'))
  host = await openSharedHost(folder, (call, when) => watch(call, when))
  replicas = await openReplicas(database.url, {
    TEST_SHARED_HOST: host.url,
    COINRACK_RATE_REGISTER: '1000000/s',
  })
})
afterAll(async () => {
  client.close()
  await replicas.stop()
  host.close()
  await db.end()
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

async function buyerAt(origin: string) {
  const email = `kill-${randomBytes(6).toString('hex')}@rackmail.net`
  const { body } = await client.ask(origin, 'POST', '/auth/register', { body: { email } })
  const at = new Date()
  const gift = { from: 'house.adjustments', to: 'customer.available', amount: PRICE } as const
  await inTransaction(db, (tx) =>
    post(tx, {
      id: makeId('transaction', at.getTime(), randomBytes(10)),
      kind: 'adjustment',
      accountId: body.account.id,
      description: 'A gift',
      postings: [gift],
      at,
    }),
  )
  return { token: body.token as string, accountId: body.account.id as string }
}

/** The victim tends the host, and is killed while it makes what is ordered of it; the client goes on at the other one. */
async function createWhileKilled(
  hostname: string,
  victimSettings: Record<string, string>,
  begin: (victim: Replica) => void = () => {},
) {
  const victim = await replicas.start('elsewhere', victimSettings)
  await expect.poll(tender, { timeout: DONE_MS }).not.toBeNull()
  const other = await replicas.start('elsewhere')
  const buyer = await buyerAt(other.origin)
  begin(victim)
  const order = (at: Replica): Promise<MeasuredAnswer> =>
    client.ask(at.origin, 'POST', '/orders', {
      token: buyer.token,
      key: hostname,
      body: { product: 'nano', os_id: 1, region: 'east', hostname },
    })
  let answer = await order(victim).catch(() => undefined)
  if (answer) expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  await victim.gone()
  watch = () => {}
  // Its lease is over a quarter of a minute later, which nobody has to wait for here.
  await db.query('update host set tended_until = clock_timestamp()')
  while (answer?.status !== 200) {
    answer = await order(other)
    if (answer.status !== 200) expect(answer.body.code).toBe('idempotency_running')
    await sleep(200)
  }
  const id: string = answer.body.service_id
  const end = performance.now() + DONE_MS
  for (;;) {
    const { body } = await client.ask(other.origin, 'GET', `/services/${id}?reveal=false`, {
      token: buyer.token,
    })
    if (['active', 'failed'].includes(body.status)) break
    expect(performance.now(), `It is ${body.status} for too long`).toBeLessThan(end)
    await sleep(200)
  }
  await expect.poll(() => machinesOf(hostname)).toBe(hostname.startsWith('no-space') ? 0 : 1)
  const { body: balance } = await client.ask(other.origin, 'GET', '/balance', { token: buyer.token })
  const { rows } = await db.query<{ orders: bigint; charges: bigint; refunds: bigint }>(
    `select (select count(*) from vps_order where account_id = $1) as orders,
       (select count(*) from ledger_transaction where account_id = $1 and reference like 'capture:%') as charges,
       (select count(*) from ledger_transaction where account_id = $1 and reference like 'release:%') as refunds`,
    [buyer.accountId],
  )
  await expectBooksToBalance(db)
  await other.end()
  return { ...rows[0]!, balance: balance.balance as string }
}

const tender = async () =>
  (
    await db.query<{ tended_by: string | null }>(
      `select tended_by from host
       where id = 'east-1' and tended_until > clock_timestamp() and memory_mb is not null and trouble is null`,
    )
  ).rows[0]?.tended_by ?? null
const machinesOf = (hostname: string) =>
  [...host.machines.values()].filter(({ spec }) => spec.hostname === hostname).length

const ONE_MACHINE = { orders: 1n, charges: 1n, refunds: 0n, balance: '0.00' }
const NONE = { orders: 1n, charges: 0n, refunds: 1n, balance: '3.00' }

const calls = ['ensure', 'observe', 'observeAll'].flatMap((name) =>
  (['before', 'after'] as const).map((when) => ({ name, when })),
)
test.each(calls)(
  'behavior: killed $when the host does "$name" of the new machine',
  async ({ name, when }) => {
    const hostname = `host-${name.toLowerCase()}-${when}`
    const seen = await createWhileKilled(hostname, {}, (victim) => {
      watch = (call, moment) => {
        const isNew = name === 'ensure' || machinesOf(hostname) > 0
        if (call.pid === victim.pid() && call.name === name && moment === when && isNew)
          process.kill(call.pid, 'SIGKILL')
      }
    })
    expect(seen).toEqual(ONE_MACHINE)
  },
  180_000,
)

const points = (marker: string) =>
  (['before the statement', 'before the commit', 'after the commit'] as const).map((at) => ({ marker, at }))
const asSetting = (point: KillPoint) => ({ TEST_KILL_AT: JSON.stringify(point) })
const hostnameOf = (kind: string, { marker, at }: KillPoint) =>
  `${kind}-${marker}-${at}`.replaceAll(/[^a-z]+/g, '-').slice(0, 60)

test.each([...points('insert into vps_order'), ...points('capture:')])(
  'behavior: killed $at of "$marker": one machine and one charge',
  async (point) => {
    expect(await createWhileKilled(hostnameOf('paid', point), asSetting(point))).toEqual(ONE_MACHINE)
  },
  180_000,
)

test.each(points('release:'))(
  'behavior: killed $at of "$marker", where no host has room: no machine and no charge',
  async (point) => {
    expect(await createWhileKilled(hostnameOf('no-space', point), asSetting(point))).toEqual(NONE)
  },
  180_000,
)
