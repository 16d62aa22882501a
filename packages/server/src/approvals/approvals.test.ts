import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectBooksToBalance } from '../ledger/testing.ts'
import { startTestService, type TestService } from '../process/testing.ts'
import { type Agent, decideOn, NANO, ownerOf, refused } from './testing.ts'

const MINUTE_MS = 60_000
const DAY_MS = 1440 * MINUTE_MS

let service: TestService
let owner: Awaited<ReturnType<typeof ownerOf>>
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
  owner = await ownerOf(service)
})

describe('a charge above a limit', () => {
  test('default: it is refused with where a person approves it; then the same call is charged, once', async () => {
    const shopper = await owner.agent({ per_call: '2.00' })
    const reply = await owner.order(shopper, { hostname: 'web' })
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
    expect(await owner.charged()).toBe(0n)
    expect(await owner.show(id, shopper)).toMatchObject({
      status: 'pending',
      operation: 'order_vps',
      afterwards: null,
      now: { balance: '1000.00', burn_per_hour: '0.00', runs_out_at: null },
      after: { balance: '997.00', runs_out_at: null },
      risk: [expect.stringContaining('decides what runs'), expect.stringContaining('once')],
    })

    expect(await decideOn(service, id, 'approved')).toBe(undefined)
    expect(await owner.show(id, shopper)).toMatchObject({ status: 'approved', spent_at: null })
    expect((await owner.order(shopper, { hostname: 'web' })).status).toBe(200)
    expect(await owner.charged()).toBe(3_000_000n)
    expect(await owner.show(id, shopper)).toMatchObject({ status: 'spent' })
    expect(refused(await owner.order(shopper, { hostname: 'web' }))).not.toBe(id)
    expect(await owner.charged()).toBe(3_000_000n)
  })

  test('behavior: as a tool it is an error with the same text', async () => {
    const shopper = await owner.agent({ per_call: '2.00' })
    const { isError, body } = await service.tool('order_vps', NANO, { token: shopper.token })
    expect(isError).toBe(true)
    expect(body).toMatchObject({ code: 'approval_needed', approval_id: expect.stringMatching(/^apr_/) })
    // The same call by another way is the same call.
    expect(refused(await owner.order(shopper))).toBe(body.approval_id)
  })

  test('behavior: what is at the limit needs nobody', async () => {
    const shopper = await owner.agent({ per_call: '3.00', per_day: '6.00' })
    for (const hostname of ['a', 'b']) expect((await owner.order(shopper, { hostname })).status).toBe(200)
    const third = await owner.order(shopper, { hostname: 'c' })
    refused(third)
    expect(third.body.limit).toMatchObject({ kind: 'per_day', above: '6.00', used: '6.00' })
    service.clock.advance(DAY_MS)
    expect((await owner.order(shopper, { hostname: 'c' })).status).toBe(200)
  })

  test('behavior: what was approved leaves the limit of the day as it was', async () => {
    const shopper = await owner.agent({ per_day: '3.00' })
    await decideOn(service, refused(await owner.order(shopper, { hostname: 'big', months: 3 })), 'approved')
    expect((await owner.order(shopper, { hostname: 'big', months: 3 })).status).toBe(200)
    expect((await owner.order(shopper, { hostname: 'small' })).status).toBe(200)
    const [row] = (await service.ask('GET', '/tokens', { token: shopper.token })).body
    expect(row.spent).toEqual({ today: '12.00', total: '12.00', unapproved_today: '3.00' })
    expect(row.budget.approve_above).toEqual({ per_call: null, per_day: '3.00' })
  })

  test('behavior: an order that fails gives back what nobody had approved of it', async () => {
    const shopper = await owner.agent({ per_day: '3.00' })
    const { body } = await owner.order(shopper)
    expect(
      await owner.post(shopper, `/services/${body.service_id}/cancel`, {
        mode: 'immediate',
        confirm: 'DELETE',
      }),
    ).toMatchObject({ status: 200 })
    expect((await owner.order(shopper)).status).toBe(200)
  })

  test('error: a budget is judged first: nobody can approve what is above it', async () => {
    const shopper = await owner.agent({ per_call: '1.00' }, { total: '2.00' })
    expect((await owner.order(shopper)).body.code).toBe('budget_exceeded')
  })

  test('behavior: a dry run asks for nothing', async () => {
    const shopper = await owner.agent({ per_call: '0' })
    expect((await owner.order(shopper, { dry_run: true })).status).toBe(200)
    expect((await service.ask('GET', '/approvals', { token: shopper.token })).body).toEqual([])
  })
})

describe('what an approval is bound to', () => {
  test('behavior: the same call again is the same approval, and one mail', async () => {
    const shopper = await owner.agent({ per_call: '2.00' })
    const { rows } = await service.services.db.query('select max(id) as last from outgoing_mail')
    const ids = [
      refused(await owner.order(shopper)),
      refused(await owner.order(shopper, {}, 'key')),
      refused(await owner.order(shopper)),
    ]
    expect(new Set(ids).size).toBe(1)
    const mails = await service.services.db.query('select from outgoing_mail where id > $1', [
      rows[0]!.last ?? 0,
    ])
    expect(mails.rowCount).toBe(1)
    // A refusal releases its key.
    await decideOn(service, ids[0]!, 'approved')
    expect((await owner.order(shopper, {}, 'key')).status).toBe(200)
    expect((await owner.order(shopper, {}, 'key')).headers['idempotent-replayed']).toBe('true')
  })

  test('behavior: another input, another token or a higher price is another one', async () => {
    const shopper = await owner.agent({ per_call: '2.00' })
    const other = await owner.agent({ per_call: '2.00' })
    const id = refused(await owner.order(shopper, { hostname: 'web' }))
    await decideOn(service, id, 'approved')
    refused(await owner.order(shopper, { hostname: 'web2' }))
    refused(await owner.order(other, { hostname: 'web' }))
    const plan = service.services.catalog.plans.find(({ slug }) => slug === 'nano')!
    const before = plan.price
    plan.price = before + 10_000n
    const dearer = refused(await owner.order(shopper, { hostname: 'web' }))
    expect(dearer).not.toBe(id)
    plan.price = before
    expect(await owner.show(id)).toMatchObject({ status: 'expired' })
    await decideOn(service, dearer, 'approved')
    // What costs less than was approved is approved.
    expect((await owner.order(shopper, { hostname: 'web' })).status).toBe(200)
    expect(await owner.charged()).toBe(before)
  })

  test('behavior: it is over 15 minutes after the approval, and 24 hours after nobody answered', async () => {
    const shopper = await owner.agent({ per_call: '2.00' })
    const first = refused(await owner.order(shopper))
    await decideOn(service, first, 'approved')
    service.clock.advance(15 * MINUTE_MS)
    const second = refused(await owner.order(shopper))
    expect(second).not.toBe(first)
    expect(await owner.show(first)).toMatchObject({ status: 'expired' })
    service.clock.advance(DAY_MS)
    expect(await decideOn(service, second, 'approved')).toBe('expired')
    expect(await owner.show(second)).toMatchObject({ status: 'expired' })
    expect(refused(await owner.order(shopper))).not.toBe(second)
  })

  test('behavior: a denial stands for the day: the same call asks nobody again', async () => {
    const shopper = await owner.agent({ per_call: '2.00' })
    const id = refused(await owner.order(shopper))
    await decideOn(service, id, 'denied')
    const again = await owner.order(shopper)
    expect(refused(again)).toBe(id)
    expect(again.body).toMatchObject({ approval_status: 'denied', next_steps: [{ tool: 'whoami' }] })
    expect(await decideOn(service, id, 'approved')).toBe('decided')
    service.clock.advance(DAY_MS)
    expect(refused(await owner.order(shopper))).not.toBe(id)
  })

  test('behavior: of ten repeats at the same moment one is charged', async () => {
    const shopper = await owner.agent({ per_call: '2.00' })
    const body = { hostname: 'web', create_invoice: false }
    await decideOn(service, refused(await owner.order(shopper, body)), 'approved')
    const all = await Promise.all(Array.from({ length: 10 }, () => owner.order(shopper, body)))
    expect(all.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(403)])
    expect(await owner.charged()).toBe(3_000_000n)
  })

  test('behavior: ten calls at the same moment ask for one approval', async () => {
    const shopper = await owner.agent({ per_call: '2.00' })
    const all = await Promise.all(Array.from({ length: 10 }, () => owner.order(shopper)))
    expect(new Set(all.map(refused)).size).toBe(1)
  })

  test('error: ten of a token wait at most; then it waits too', async () => {
    const shopper = await owner.agent({ per_call: '2.00' })
    for (let index = 0; index < 10; index++) refused(await owner.order(shopper, { hostname: `web${index}` }))
    const more = await owner.order(shopper, { hostname: 'more' })
    expect([more.status, more.body.code]).toEqual([403, 'approval_limit'])
    expect(more.body.next_steps[0]).toMatchObject({ tool: 'list_approvals' })
    const mails = await service.services.db.query('select from approval where mailed and account_id = $1', [
      owner.accountId,
    ])
    expect(mails.rowCount).toBe(5)
    await decideOn(service, refused(await owner.order(shopper, { hostname: 'web3' })), 'denied')
    refused(await owner.order(shopper, { hostname: 'more' }))
  })

  test('behavior: killed in the charging transaction, the approval is there for the next call', async () => {
    const shopper = await owner.agent({ per_call: '2.00' })
    const id = refused(await owner.order(shopper))
    await decideOn(service, id, 'approved')
    const { newId } = service.services
    service.services.newId = (kind) => {
      if (kind === 'event') throw new Error('The process was killed here')
      return newId(kind)
    }
    expect((await owner.order(shopper)).status).toBe(500)
    service.services.newId = newId
    expect(await owner.show(id)).toMatchObject({ status: 'approved' })
    expect((await owner.order(shopper)).status).toBe(200)
    expect(await owner.show(id)).toMatchObject({ status: 'spent' })
  })

  test('behavior: money that is missing leaves the approval for the call that has it', async () => {
    const poor = await service.customer()
    const shopper = await owner.agent({ per_call: '2.00' }, { by: poor.token })
    const id = refused(await owner.order(shopper, { create_invoice: false }))
    await decideOn(service, id, 'approved')
    expect((await owner.order(shopper, { create_invoice: false })).status).toBe(402)
    await service.credit(poor.accountId, 5_000_000n)
    expect((await owner.order(shopper, { create_invoice: false })).status).toBe(200)
  })
})

describe('who can approve, and who sees it', () => {
  test('behavior: a suspended account or an ended token can be denied alone', async () => {
    const shopper = await owner.agent({ per_call: '2.00' })
    const id = refused(await owner.order(shopper))
    await service.services.db.query('update account set suspended_at = $2 where id = $1', [
      owner.accountId,
      service.clock.now(),
    ])
    expect(await decideOn(service, id, 'approved')).toBe('suspended')
    await service.services.db.query('update account set suspended_at = null where id = $1', [owner.accountId])
    await service.ask('DELETE', `/tokens/${shopper.id}`, { token: owner.token })
    expect(await decideOn(service, id, 'approved')).toBe('token_ended')
    expect(await decideOn(service, id, 'denied')).toBe(undefined)
  })

  test('behavior: a child token sees its own and those below it', async () => {
    const shopper = await owner.agent({ per_call: '2.00' })
    const below = await owner.agent({ per_call: '1.00' }, { by: shopper.token })
    const other = await owner.agent({ per_call: '2.00' })
    const id = refused(await owner.order(below))
    const listed = async (by: Agent | typeof owner, query = '') =>
      (await service.ask('GET', `/approvals${query}`, { token: by.token })).body.map(
        (each: { id: string }) => each.id,
      )
    expect(await listed(below)).toEqual([id])
    expect(await listed(shopper)).toEqual([id])
    expect(await listed(owner, '?status=pending')).toEqual([id])
    expect(await listed(owner, '?status=spent')).toEqual([])
    expect(await listed(other)).toEqual([])
    expect((await owner.show(id, other)).code).toBe('token_not_below')
  })

  test('behavior: who waits is told at once, and the account by events', async () => {
    const shopper = await owner.agent({ per_call: '2.00' })
    const id = refused(await owner.order(shopper))
    const waiting = service.ask('GET', `/approvals/${id}?wait=decided&timeout=30`, { token: shopper.token })
    await decideOn(service, id, 'approved')
    expect((await waiting).body).toMatchObject({ id, status: 'approved' })
    const { rows } = await service.services.db.query(
      `select type, data from event where account_id = $1 and type like 'approval.%' order by type desc`,
      [owner.accountId],
    )
    expect(rows).toMatchObject([
      { type: 'approval.requested', data: { approval_id: id, price: '3.00', operation: 'order_vps' } },
      { type: 'approval.decided', data: { approval_id: id, decision: 'approved' } },
    ])
  })
})
