import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { inTransaction } from '../database/transaction.ts'
import { expectBooksToBalance } from '../ledger/testing.ts'
import { sendQueuedMail } from '../platform/queue-mail.ts'
import { type Reply, startTestService, type TestService } from '../process/testing.ts'
import { billVps } from '../vps/billing/bill-vps.ts'
import { decide } from './decide-approval.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** USD 3.00 a month. */
const NANO = { product: 'nano', os_id: 1 }

let service: TestService
let owner: { token: string; accountId: string }
beforeAll(async () => {
  service = await startTestService({
    env: {
      COINRACK_RATE_ORDERS: '100000/min',
      COINRACK_RATE_SANDBOXES: '100000/min',
      COINRACK_RATE_REGISTER: '100000/min',
    },
  })
})
afterAll(async () => {
  await expectBooksToBalance(service.services.db)
  await service.close()
})
beforeEach(async () => {
  service.clock.advance(DAY_MS)
  owner = await service.customer(1_000_000_000n)
})

interface Agent {
  token: string
  id: string
}

const agent = async (
  approve_above: object,
  { by = owner.token, ...budget }: { by?: string } & Record<string, unknown> = {},
): Promise<Agent> => {
  const { status, body } = await service.ask('POST', '/tokens', {
    token: by,
    body: { name: 'shopper', budget: { ...budget, approve_above } },
  })
  expect(status).toBe(200)
  return { token: body.token, id: body.details.id }
}
const post = (by: Agent | { token: string }, path: string, body: object = {}, key?: string) =>
  service.ask('POST', path, {
    token: by.token,
    body,
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
  })
const order = (by: Agent | { token: string }, more: object = {}, key?: string) =>
  post(by, '/orders', { ...NANO, ...more }, key)
const decideOn = (id: string, status: 'approved' | 'denied') =>
  inTransaction(service.services.db, (tx) => decide(tx, service.services, id, { status, provenBy: 'mail' }))
const refused = (reply: Reply): string => {
  expect([reply.status, reply.body.code]).toEqual([403, 'approval_needed'])
  return reply.body.approval_id
}
const show = async (id: string, by: { token: string } = owner) =>
  (await service.ask('GET', `/approvals/${id}`, { token: by.token })).body
const charged = async () => {
  const { rows } = await service.services.db.query<{ spent: bigint }>(
    'select 1000000000 - available as spent from customer_balance where account_id = $1',
    [owner.accountId],
  )
  return BigInt(rows[0]!.spent)
}

describe('a charge above a limit', () => {
  test('default: it is refused with where a person approves it; then the same call is charged, once', async () => {
    const shopper = await agent({ per_call: '2.00' })
    const reply = await order(shopper, { hostname: 'web' })
    const id = refused(reply)
    expect(reply.body).toMatchObject({
      approval_url: `${service.services.config.publicUrl}/approvals/${id}`,
      approval_status: 'pending',
      subject: 'VPS nano web, one month',
      price: '3.00',
      limit: { token_id: shopper.id, kind: 'per_call', above: '2.00', used: '0.00' },
      next_steps: [{ tool: 'get_approval', arguments: { approval_id: id, wait: 'decided' } }],
    })
    expect(Date.parse(reply.body.expires_at) - service.clock.now().getTime()).toBe(DAY_MS)
    expect(await charged()).toBe(0n)
    expect(await show(id, shopper)).toMatchObject({ status: 'pending', operation: 'order_vps' })

    expect(await decideOn(id, 'approved')).toBe(undefined)
    expect(await show(id, shopper)).toMatchObject({ status: 'approved', spent_at: null })
    expect((await order(shopper, { hostname: 'web' })).status).toBe(200)
    expect(await charged()).toBe(3_000_000n)
    expect(await show(id, shopper)).toMatchObject({ status: 'spent' })
    expect(refused(await order(shopper, { hostname: 'web' }))).not.toBe(id)
    expect(await charged()).toBe(3_000_000n)
  })

  test('behavior: as a tool it is an error with the same text', async () => {
    const shopper = await agent({ per_call: '2.00' })
    const { isError, body } = await service.tool('order_vps', NANO, { token: shopper.token })
    expect(isError).toBe(true)
    expect(body).toMatchObject({ code: 'approval_needed', approval_id: expect.stringMatching(/^apr_/) })
    // The same call by another way is the same call.
    expect(refused(await order(shopper))).toBe(body.approval_id)
  })

  test('behavior: what is at the limit needs nobody', async () => {
    const shopper = await agent({ per_call: '3.00', per_day: '6.00' })
    for (const hostname of ['a', 'b']) expect((await order(shopper, { hostname })).status).toBe(200)
    const third = await order(shopper, { hostname: 'c' })
    refused(third)
    expect(third.body.limit).toMatchObject({ kind: 'per_day', above: '6.00', used: '6.00' })
    service.clock.advance(DAY_MS)
    expect((await order(shopper, { hostname: 'c' })).status).toBe(200)
  })

  test('behavior: what was approved leaves the limit of the day as it was', async () => {
    const shopper = await agent({ per_day: '3.00' })
    await decideOn(refused(await order(shopper, { hostname: 'big', months: 3 })), 'approved')
    expect((await order(shopper, { hostname: 'big', months: 3 })).status).toBe(200)
    expect((await order(shopper, { hostname: 'small' })).status).toBe(200)
    const [row] = (await service.ask('GET', '/tokens', { token: shopper.token })).body
    expect(row.spent).toEqual({ today: '12.00', total: '12.00', unapproved_today: '3.00' })
    expect(row.budget.approve_above).toEqual({ per_call: null, per_day: '3.00' })
  })

  test('behavior: an order that fails gives back what nobody had approved of it', async () => {
    const shopper = await agent({ per_day: '3.00' })
    const { body } = await order(shopper)
    expect(
      await post(shopper, `/services/${body.service_id}/cancel`, { mode: 'immediate', confirm: 'DELETE' }),
    ).toMatchObject({ status: 200 })
    expect((await order(shopper)).status).toBe(200)
  })

  test('error: a budget is judged first: nobody can approve what is above it', async () => {
    const shopper = await agent({ per_call: '1.00' }, { total: '2.00' })
    expect((await order(shopper)).body.code).toBe('budget_exceeded')
  })

  test('behavior: a dry run asks for nothing', async () => {
    const shopper = await agent({ per_call: '0' })
    expect((await order(shopper, { dry_run: true })).status).toBe(200)
    expect((await service.ask('GET', '/approvals', { token: shopper.token })).body).toEqual([])
  })
})

describe('what an approval is bound to', () => {
  test('behavior: the same call again is the same approval, and one mail', async () => {
    const shopper = await agent({ per_call: '2.00' })
    const { rows } = await service.services.db.query('select max(id) as last from outgoing_mail')
    const ids = [
      refused(await order(shopper)),
      refused(await order(shopper, {}, 'key')),
      refused(await order(shopper)),
    ]
    expect(new Set(ids).size).toBe(1)
    const mails = await service.services.db.query('select from outgoing_mail where id > $1', [
      rows[0]!.last ?? 0,
    ])
    expect(mails.rowCount).toBe(1)
    // A refusal releases its key.
    await decideOn(ids[0]!, 'approved')
    expect((await order(shopper, {}, 'key')).status).toBe(200)
    expect((await order(shopper, {}, 'key')).headers['idempotent-replayed']).toBe('true')
  })

  test('behavior: another input, another token or a higher price is another one', async () => {
    const shopper = await agent({ per_call: '2.00' })
    const other = await agent({ per_call: '2.00' })
    const id = refused(await order(shopper, { hostname: 'web' }))
    await decideOn(id, 'approved')
    refused(await order(shopper, { hostname: 'web2' }))
    refused(await order(other, { hostname: 'web' }))
    const plan = service.services.catalog.plans.find(({ slug }) => slug === 'nano')!
    const before = plan.price
    plan.price = before + 10_000n
    const dearer = refused(await order(shopper, { hostname: 'web' }))
    expect(dearer).not.toBe(id)
    plan.price = before
    expect(await show(id)).toMatchObject({ status: 'expired' })
    await decideOn(dearer, 'approved')
    // What costs less than was approved is approved.
    expect((await order(shopper, { hostname: 'web' })).status).toBe(200)
    expect(await charged()).toBe(before)
  })

  test('behavior: it is over 15 minutes after the approval, and 24 hours after nobody answered', async () => {
    const shopper = await agent({ per_call: '2.00' })
    const first = refused(await order(shopper))
    await decideOn(first, 'approved')
    service.clock.advance(15 * MINUTE_MS)
    const second = refused(await order(shopper))
    expect(second).not.toBe(first)
    expect(await show(first)).toMatchObject({ status: 'expired' })
    service.clock.advance(DAY_MS)
    expect(await decideOn(second, 'approved')).toBe('expired')
    expect(await show(second)).toMatchObject({ status: 'expired' })
    expect(refused(await order(shopper))).not.toBe(second)
  })

  test('behavior: a denial stands for the day: the same call asks nobody again', async () => {
    const shopper = await agent({ per_call: '2.00' })
    const id = refused(await order(shopper))
    await decideOn(id, 'denied')
    const again = await order(shopper)
    expect(refused(again)).toBe(id)
    expect(again.body).toMatchObject({ approval_status: 'denied', next_steps: [{ tool: 'whoami' }] })
    expect(await decideOn(id, 'approved')).toBe('decided')
    service.clock.advance(DAY_MS)
    expect(refused(await order(shopper))).not.toBe(id)
  })

  test('behavior: of ten repeats at the same moment one is charged', async () => {
    const shopper = await agent({ per_call: '2.00' })
    const body = { hostname: 'web', create_invoice: false }
    await decideOn(refused(await order(shopper, body)), 'approved')
    const all = await Promise.all(Array.from({ length: 10 }, () => order(shopper, body)))
    expect(all.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(403)])
    expect(await charged()).toBe(3_000_000n)
  })

  test('behavior: ten calls at the same moment ask for one approval', async () => {
    const shopper = await agent({ per_call: '2.00' })
    const all = await Promise.all(Array.from({ length: 10 }, () => order(shopper)))
    expect(new Set(all.map(refused)).size).toBe(1)
  })

  test('error: ten of a token wait at most; then it waits too', async () => {
    const shopper = await agent({ per_call: '2.00' })
    for (let index = 0; index < 10; index++) refused(await order(shopper, { hostname: `web${index}` }))
    const more = await order(shopper, { hostname: 'more' })
    expect([more.status, more.body.code]).toEqual([403, 'approval_limit'])
    expect(more.body.next_steps[0]).toMatchObject({ tool: 'list_approvals' })
    const mails = await service.services.db.query('select from approval where mailed and account_id = $1', [
      owner.accountId,
    ])
    expect(mails.rowCount).toBe(5)
    await decideOn(refused(await order(shopper, { hostname: 'web3' })), 'denied')
    refused(await order(shopper, { hostname: 'more' }))
  })

  test('behavior: killed in the charging transaction, the approval is there for the next call', async () => {
    const shopper = await agent({ per_call: '2.00' })
    const id = refused(await order(shopper))
    await decideOn(id, 'approved')
    const { newId } = service.services
    service.services.newId = (kind) => {
      if (kind === 'event') throw new Error('The process was killed here')
      return newId(kind)
    }
    expect((await order(shopper)).status).toBe(500)
    service.services.newId = newId
    expect(await show(id)).toMatchObject({ status: 'approved' })
    expect((await order(shopper)).status).toBe(200)
    expect(await show(id)).toMatchObject({ status: 'spent' })
  })

  test('behavior: money that is missing leaves the approval for the call that has it', async () => {
    const poor = await service.customer()
    const shopper = await agent({ per_call: '2.00' }, { by: poor.token })
    const id = refused(await order(shopper, { create_invoice: false }))
    await decideOn(id, 'approved')
    expect((await order(shopper, { create_invoice: false })).status).toBe(402)
    await service.credit(poor.accountId, 5_000_000n)
    expect((await order(shopper, { create_invoice: false })).status).toBe(200)
  })
})

describe('who can approve, and who sees it', () => {
  test('behavior: a suspended account or an ended token can be denied alone', async () => {
    const shopper = await agent({ per_call: '2.00' })
    const id = refused(await order(shopper))
    await service.services.db.query('update account set suspended_at = $2 where id = $1', [
      owner.accountId,
      service.clock.now(),
    ])
    expect(await decideOn(id, 'approved')).toBe('suspended')
    await service.services.db.query('update account set suspended_at = null where id = $1', [owner.accountId])
    await service.ask('DELETE', `/tokens/${shopper.id}`, { token: owner.token })
    expect(await decideOn(id, 'approved')).toBe('token_ended')
    expect(await decideOn(id, 'denied')).toBe(undefined)
  })

  test('behavior: a child token sees its own and those below it', async () => {
    const shopper = await agent({ per_call: '2.00' })
    const below = await agent({ per_call: '1.00' }, { by: shopper.token })
    const other = await agent({ per_call: '2.00' })
    const id = refused(await order(below))
    const listed = async (by: Agent | typeof owner, query = '') =>
      (await service.ask('GET', `/approvals${query}`, { token: by.token })).body.map(
        (each: { id: string }) => each.id,
      )
    expect(await listed(below)).toEqual([id])
    expect(await listed(shopper)).toEqual([id])
    expect(await listed(owner, '?status=pending')).toEqual([id])
    expect(await listed(owner, '?status=spent')).toEqual([])
    expect(await listed(other)).toEqual([])
    expect((await show(id, other)).code).toBe('token_not_below')
  })

  test('behavior: who waits is told at once, and the account by events', async () => {
    const shopper = await agent({ per_call: '2.00' })
    const id = refused(await order(shopper))
    const waiting = service.ask('GET', `/approvals/${id}?wait=decided&timeout=30`, { token: shopper.token })
    await decideOn(id, 'approved')
    expect((await waiting).body).toMatchObject({ id, status: 'approved' })
    const { rows } = await service.services.db.query(
      `select type, data from event where account_id = $1 and type like 'approval.%' order by id`,
      [owner.accountId],
    )
    expect(rows).toMatchObject([
      { type: 'approval.requested', data: { approval_id: id, price: '3.00', operation: 'order_vps' } },
      { type: 'approval.decided', data: { approval_id: id, decision: 'approved' } },
    ])
  })
})

describe('what does not go round it', () => {
  test('behavior: a child has no higher limit, and stands below those above it', async () => {
    const shopper = await agent({ per_call: '2.00', per_day: '5.00' })
    const higher = await post(shopper, '/tokens', { budget: { approve_above: { per_call: '2.50' } } })
    expect(higher.body).toMatchObject({
      code: 'budget_exceeded',
      cap: 'approve_above.per_call',
      limit: '2.00',
    })
    const free = (await post(shopper, '/tokens', {})).body
    const reply = await order(free)
    refused(reply)
    expect(reply.body.limit.token_id).toBe(shopper.id)
    // Nor can it change its own.
    const own = await service.ask('PATCH', `/tokens/${shopper.id}`, {
      token: shopper.token,
      body: { budget: null },
    })
    expect(own.body.code).toBe('token_not_below')
  })

  test('behavior: many small calls of several children are one day', async () => {
    const shopper = await agent({ per_day: '7.00' })
    const statuses: number[] = []
    for (let index = 0; index < 4; index++) {
      const child = (await post(shopper, '/tokens', {})).body
      statuses.push((await order(child, { hostname: `web${index}` })).status)
    }
    expect(statuses).toEqual([200, 200, 403, 403])
  })

  test('behavior: a refreshed token has what it had', async () => {
    const shopper = await agent({ per_day: '3.00' })
    expect((await order(shopper, { hostname: 'a' })).status).toBe(200)
    const { token } = (await post(shopper, '/auth/refresh')).body
    const id = refused(await order({ token }, { hostname: 'b' }))
    expect(refused(await order(shopper, { hostname: 'b' }))).toBe(id)
  })

  test('behavior: renewals in the background end at the limit, told to the owner', async () => {
    const shopper = await agent({ per_day: '3.00' }, { allow_auto_renew: true })
    const { body } = await order(shopper, { billing_cycle: 'hourly' })
    await service.reconcile()
    expect(body.status).toBe('provisioning')
    const before = await charged()
    // A day has no more hours than that.
    await service.services.db.query('update vps_billing set price_hourly = 1000000 where id = $1', [
      body.service_id,
    ])
    for (let hour = 0; hour < 6; hour++) {
      service.clock.advance(HOUR_MS)
      await billVps(service.services)
    }
    const since = (await charged()) - before
    expect(since).toBeGreaterThan(0n)
    expect(since).toBeLessThanOrEqual(3_000_000n)
    const { body: shown } = await service.ask('GET', `/services/${body.service_id}`, { token: owner.token })
    expect(shown.status).toBe('suspended')
    while ((await sendQueuedMail(service.services)).done > 0);
    expect(service.mails.at(-1)).toMatchObject({
      subject: expect.stringContaining('is suspended'),
      text: expect.stringContaining('approve_above'),
    })
  })

  test('behavior: nor does auto-renew of what another token ordered', async () => {
    const { body } = await order(owner, { billing_cycle: 'hourly', auto_renew: false })
    await service.reconcile()
    await service.services.db.query('update vps_billing set price_hourly = 1000000 where id = $1', [
      body.service_id,
    ])
    const shopper = await agent({ per_day: '2.00' }, { allow_auto_renew: true })
    expect(
      (
        await service.ask('PUT', `/services/${body.service_id}/auto-renew`, {
          token: shopper.token,
          body: { enabled: true },
        })
      ).status,
    ).toBe(200)
    const before = await charged()
    for (let hour = 0; hour < 5; hour++) {
      service.clock.advance(HOUR_MS)
      await billVps(service.services)
    }
    expect((await charged()) - before).toBe(2_000_000n)
  })

  test('behavior: an order that money arrives for is not begun above the limit: the money is on the balance', async () => {
    const poor = await service.customer()
    const shopper = await agent({ per_call: '5.00' }, { by: poor.token })
    const unpaid = await order(shopper, { hostname: 'web' })
    expect(unpaid.status).toBe(402)
    await service.ask('PATCH', `/tokens/${shopper.id}`, {
      token: poor.token,
      body: { budget: { approve_above: { per_call: '1.00' } } },
    })
    await service.credit(poor.accountId, 3_000_000n)
    const paid = await post(shopper, `/invoices/${unpaid.body.invoice.id}/pay`, { method: 'balance' })
    const id = refused(paid)
    expect(paid.body.subject).toBe('VPS nano web, one month')
    await decideOn(id, 'approved')
    expect(
      (await post(shopper, `/invoices/${unpaid.body.invoice.id}/pay`, { method: 'balance' })).status,
    ).toBe(200)
  })
})

describe('sandboxes', () => {
  const MICRO_HOUR = 16_500n

  test('behavior: what it costs until its timeout is what a person approves', async () => {
    const shopper = await agent({ per_call: '0.01' })
    expect((await post(shopper, '/sandboxes', { timeout: 1800 })).status).toBe(200)
    const long = await post(shopper, '/sandboxes', { timeout: 7200 })
    const id = refused(long)
    expect(long.body).toMatchObject({ price: '0.033', subject: 'A sandbox (micro) for at most 120 minutes' })
    await decideOn(id, 'approved')
    expect((await post(shopper, '/sandboxes', { timeout: 7200 })).status).toBe(200)
  })

  test('behavior: a longer timeout, another run and a fork are asked for like the first', async () => {
    const shopper = await agent({ per_call: '0.01' })
    const { body } = await post(shopper, '/sandboxes', { timeout: 600, mode: 'persistent' })
    const path = `/sandboxes/${body.id}`
    expect((await post(shopper, `${path}/timeout`, { timeout: 900 })).status).toBe(200)
    const id = refused(await post(shopper, `${path}/timeout`, { timeout: 36_000 }))
    refused(await post(shopper, `${path}/fork`, { timeout: 36_000 }))
    await decideOn(id, 'approved')
    expect((await post(shopper, `${path}/timeout`, { timeout: 36_000 })).body).toMatchObject({
      timeout: 36_000,
    })
    expect((await post(shopper, `${path}/timeout`, { timeout: 60 })).status).toBe(200)
    expect((await post(shopper, `${path}/pause`)).status).toBe(200)
    refused(await post(shopper, `${path}/resume`, { timeout: 36_000 }))
    expect((await post(shopper, `${path}/resume`, { timeout: 60 })).status).toBe(200)
  })

  test('behavior: many run until the day is used up, and not beyond', async () => {
    const shopper = await agent({ per_day: '0.0165' })
    const ids: string[] = []
    for (let index = 0; index < 4; index++) {
      const { status, body } = await post(shopper, '/sandboxes', { timeout: 3000, idle_timeout: 0 })
      if (status === 200) ids.push(body.id)
    }
    expect(ids).toHaveLength(4)
    for (let passes = 0; passes < 400; passes++) {
      service.clock.advance(5_000)
      await service.reconcileSandboxes()
    }
    const { rows } = await service.services.db.query<{ charged: bigint; reason: string }>(
      'select charged, reason from sandbox where id = any($1)',
      [ids],
    )
    expect(rows.map(({ reason }) => reason)).toEqual(Array(4).fill('budget'))
    const sum = rows.reduce((total, row) => total + row.charged, 0n)
    // The clock of this test moves five seconds at once, in which four of them run on.
    expect(sum).toBeLessThanOrEqual(MICRO_HOUR + (4n * 5n * MICRO_HOUR) / 3600n)
    expect(sum).toBeGreaterThan(MICRO_HOUR - 1_000n)
    refused(await post(shopper, '/sandboxes', { timeout: 3000 }))
  })

  test('behavior: one that was approved goes on beside the limit of the day, for what was approved', async () => {
    const shopper = await agent({ per_day: '0.001' })
    await decideOn(refused(await post(shopper, '/sandboxes', { timeout: 3600, idle_timeout: 0 })), 'approved')
    const { body } = await post(shopper, '/sandboxes', { timeout: 3600, idle_timeout: 0 })
    for (let passes = 0; passes < 116; passes++) {
      service.clock.advance(30_000)
      await service.reconcileSandboxes()
    }
    expect((await service.ask('GET', `/sandboxes/${body.id}`, { token: shopper.token })).body).toMatchObject({
      state: 'running',
    })
    const [row] = (await service.ask('GET', '/tokens', { token: shopper.token })).body
    expect(row.spent.unapproved_today).toBe('0.00')
  })
})
