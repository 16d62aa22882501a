import { operationList } from '@coinrack/contract/index.ts'
import { type Operation, toolName } from '@coinrack/contract/operation.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, createDispatch, type Dispatch } from '../dispatch/dispatch.ts'
import { createRateLimiter } from '../dispatch/rate-limiter.ts'
import { handlers, paidHandlers } from '../process/handlers.ts'
import { startTestService, type TestService } from '../process/testing.ts'

let service: TestService
let dispatch: Dispatch
let owner: { token: string; accountId: string }
beforeAll(async () => {
  service = await startTestService({
    env: { COINRACK_RATE_BAD_TOKENS: '100000/min', COINRACK_RATE_LOGIN: '100000/min' },
  })
  owner = await service.customer()
  const { services } = service
  const limiter = createRateLimiter(services)
  const strangers = { db: services.db, lookups: services.db, limiter }
  dispatch = createDispatch(services, { handlers, paidHandlers }, limiter, strangers)
})
afterAll(() => service.close())

const YEAR_MS = 365 * 86_400_000

/** A token of a kind, with every right, directly under the account. */
async function tokenOf(kind: 'grant' | 'program'): Promise<{ token: string; id: string }> {
  const { body } = await service.ask('POST', '/tokens', { token: owner.token, body: { name: kind } })
  const { id } = body.details
  await service.services.db.query(
    `update token set kind = $2, expires_at = $3, parent_id = case when $2 = 'grant' then null else parent_id end,
       lineage = case when $2 = 'grant' then array[id] else lineage end where id = $1`,
    [id, kind, new Date(service.clock.now().getTime() + YEAR_MS)],
  )
  return { token: body.token, id }
}

const call = (
  name: (typeof operationList)[number][0],
  op: Operation,
  token: string,
  forGrants: boolean,
): Promise<Answer> =>
  dispatch(name, {
    token,
    address: '192.0.2.7',
    idempotencyKey: undefined,
    resourceId: undefined,
    input: () => op.example,
    requestId: 'r',
    asTool: true,
    forGrants,
  })

describe.each(['grant', 'program'] as const)('a %s token', (kind) => {
  test('error: is refused by the operations that are closed to it, with a way on', async () => {
    const { token } = await tokenOf(kind)
    const closed = operationList.filter(([, op]) => op.closedTo?.includes(kind) && op.resource === undefined)
    expect(closed.length).toBeGreaterThan(3)
    for (const [name, op] of closed) {
      const { status, body } = await call(name, op, token, kind === 'grant')
      expect([name, status, body.code, body.kind]).toEqual([name, 403, 'closed_to_token', kind])
      const [step] = body.next_steps as { tool: string }[]
      const next = operationList.find(([each]) => toolName(each) === step!.tool)!
      // It may log out, so that each call has a customer of its own.
      const by = kind === 'grant' ? token : (await service.customer()).token
      const further = await call(...next, by, kind === 'grant')
      expect([name, further.body.code]).not.toEqual([name, 'closed_to_token'])
    }
  })
})

describe('a grant', () => {
  test('error: REST and the ordinary tools refuse it, and the address for grants refuses every other token', async () => {
    const { token } = await tokenOf('grant')
    const byRest = await service.ask('GET', '/balance', { token })
    expect([byRest.status, byRest.body.code]).toEqual([401, 'wrong_audience'])
    const balance = operationList.find(([name]) => name === 'getBalance')!
    expect((await call(...balance, token, true)).status).toBe(200)
    expect((await call(...balance, token, false)).body.code).toBe('wrong_audience')
    expect((await call(...balance, owner.token, true)).body.code).toBe('wrong_audience')
  })

  test('behavior: it sees itself alone, and the owner sees it, changes its budget and ends it', async () => {
    const { token, id } = await tokenOf('grant')
    const list = operationList.find(([name]) => name === 'listTokens')!
    const own = (await call(...list, token, true)).body.items as { id: string }[]
    expect(own.map((each) => each.id)).toEqual([id])

    const changed = await service.ask('PATCH', `/tokens/${id}`, {
      token: owner.token,
      body: { budget: { total: '3.00' } },
    })
    expect(changed.body.details).toMatchObject({ kind: 'grant', parent_id: null, budget: { total: '3.00' } })
    const ended = await service.ask('DELETE', `/tokens/${id}`, { token: owner.token })
    expect(ended.body.revoked).toEqual([id])
    expect((await call(...list, token, true)).body.code).toBe('unauthorized')
  })
})

test('behavior: a program can call nothing of account, tokens and refunds', () => {
  const open = operationList.filter(([, op]) => op.subject === 'Account' && !op.closedTo?.includes('program'))
  expect(open).toEqual([])
})
