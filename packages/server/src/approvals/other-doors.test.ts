import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectBooksToBalance } from '../ledger/testing.ts'
import { startTestService, type TestService } from '../process/testing.ts'
import { type Agent, decideOn, NANO, ownerOf, refused } from './testing.ts'

/* The same charge by other ways than a call of its own, and charges other than an order. */

const DAY_MS = 86_400_000
const MONTH = 3_000_000n

let service: TestService
let owner: Awaited<ReturnType<typeof ownerOf>>
beforeAll(async () => {
  service = await startTestService({
    features: ['retainedDisks'],
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

describe('a call by name', () => {
  const byName = (shopper: Agent, input: object) =>
    owner.post(shopper, '/catalog/operations/order_vps', { arguments: input })

  test('default: it is the same call as the one that it names, and charged once', async () => {
    const shopper = await owner.agent({ per_call: '2.00' })
    const id = refused(await byName(shopper, NANO))
    expect(refused(await owner.order(shopper))).toBe(id)
    const tool = { name: 'order_vps', arguments: NANO }
    expect((await service.tool('call_operation', tool, { token: shopper.token })).body).toMatchObject({
      code: 'approval_needed',
      approval_id: id,
      next_steps: [{ tool: 'get_approval' }],
    })
    await decideOn(service, id, 'approved')
    expect((await byName(shopper, NANO)).status).toBe(200)
    refused(await owner.order(shopper))
    expect(await owner.charged()).toBe(MONTH)
  })
})

describe('a program', () => {
  const program = async (shopper: Agent, budget = '10.00') => {
    const code = `
      try { console.log((await coinrack.orderVps({ product: 'nano', os_id: 1 })).service_id) }
      catch (error) { console.log(error.code, error.approval_id) }`
    const { status, body } = await owner.post(shopper, '/programs', { code, budget })
    expect(status).toBe(200)
    return body.stdout.trim()
  }

  test('default: what it is refused is approved for the token that runs it, and another run of it is charged, once', async () => {
    const shopper = await owner.agent({ per_call: '2.00' })
    const [code, id] = (await program(shopper)).split(' ')
    expect(code).toBe('approval_needed')
    expect(await owner.show(id, shopper)).toMatchObject({ status: 'pending', token_id: shopper.id })
    expect(await program(shopper)).toBe(`approval_needed ${id}`)
    expect(refused(await owner.order(shopper))).toBe(id)
    await decideOn(service, id, 'approved')
    // The budget of the run is judged as ever.
    expect(await program(shopper, '1.00')).toMatch(/^budget_exceeded/)
    expect(await program(shopper)).toMatch(/^vps_/)
    expect(await program(shopper)).toMatch(/^approval_needed/)
    const runs = await owner.charged()
    expect(runs).toBeGreaterThanOrEqual(MONTH)
    expect(runs).toBeLessThan(MONTH + 10_000n)
  })

  test('behavior: many small calls of it are one day', async () => {
    const shopper = await owner.agent({ per_day: '7.00' })
    const code = `
      for (const hostname of ['a', 'b', 'c', 'd'])
        try { await coinrack.orderVps({ product: 'nano', os_id: 1, hostname }); console.log('ordered') }
        catch (error) { console.log(error.code) }`
    const { body } = await owner.post(shopper, '/programs', { code, budget: '100.00' })
    expect(body.stdout.trim().split('\n')).toEqual([
      ...['ordered', 'ordered'],
      ...['approval_needed', 'approval_needed'],
    ])
  })
})

describe('a machine that is there', () => {
  const machine = async () => {
    const { body } = await owner.order(owner, { hostname: 'web' })
    await service.reconcile()
    return body.service_id as string
  }

  test('behavior: a larger plan is asked for, at the price of the rest of the period', async () => {
    const id = await machine()
    const shopper = await owner.agent({ per_call: '1.00' })
    const grow = () =>
      owner.post(shopper, `/services/${id}/change-plan`, { target_plan: 'small', confirm: true })
    const before = await owner.charged()
    const first = await grow()
    const approval = refused(first)
    expect(first.body.subject).toBe('VPS web: from nano to small, for the rest of the period')
    expect(await owner.charged()).toBe(before)
    await decideOn(service, approval, 'approved')
    expect((await grow()).status).toBe(200)
    expect(await owner.charged()).toBeGreaterThan(before)
    expect(await owner.show(approval)).toMatchObject({ status: 'spent' })
  })

  test('behavior: a cancelled one that comes back is asked for as a month is', async () => {
    const id = await machine()
    const cancel = { mode: 'immediate', confirm: 'web' }
    expect((await owner.post(owner, `/services/${id}/cancel`, cancel)).status).toBe(200)
    await service.reconcile()
    const { body: kept } = await service.ask('GET', `/services/${id}/snapshots`, { token: owner.token })
    const shopper = await owner.agent({ per_call: '1.00' })
    const bringBack = () => owner.post(shopper, `/services/${id}/snapshots/${kept[0].id}/restore`)
    const before = await owner.charged()
    const approval = refused(await bringBack())
    expect(refused(await bringBack())).toBe(approval)
    await decideOn(service, approval, 'approved')
    expect((await bringBack()).status).toBe(200)
    expect((await owner.charged()) - before).toBe(MONTH)
    await service.reconcile()
    expect((await service.ask('GET', `/services/${id}`, { token: owner.token })).body.status).toBe('active')
  })
})
