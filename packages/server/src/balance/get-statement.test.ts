import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../database/transaction.ts'
import { post } from '../ledger/post.ts'
import { startTestService, type TestService } from '../process/testing.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

const HEAD = 'time,id,kind,description,amount,held_change,balance,reference'

const charge = (accountId: string, amount: bigint, description: string) =>
  inTransaction(service.services.db, (tx) =>
    post(tx, {
      id: service.services.newId('transaction'),
      kind: 'charge',
      accountId,
      description,
      postings: [{ from: 'customer.available', to: 'revenue.vps', amount }],
      at: service.clock.now(),
    }),
  )
const statement = (token: string, query = '', accept = 'application/json') =>
  service.ask('GET', `/balance/statement${query}`, { token, headers: { accept } })
/** One column of each line. */
const column = (csv: string, index: number) =>
  csv
    .split('\r\n')
    .slice(1, -1)
    .map((line) => line.split(',')[index])

test('default: this month up to now, oldest first, with the running balance', async () => {
  const { token, accountId } = await service.customer(5_000_000n)
  service.clock.advance(86_400_000)
  await charge(accountId, 1_250_000n, 'web, "one" month')
  service.clock.advance(1)
  await charge(accountId, 2_000_000n, '=1+1')
  service.clock.advance(1)
  const { status, body } = await statement(token)
  expect(status).toBe(200)
  expect(body).toMatchObject({
    from: '2026-02-01T00:00:00.000Z',
    to: service.clock.now().toISOString(),
    opening_balance: '5.00',
    closing_balance: '1.75',
    lines: 2,
    next_cursor: null,
  })
  const [head, first, second, end] = body.csv.split('\r\n')
  expect(head).toBe(HEAD)
  expect(first).toMatch(/^2026-02-01T12:00:00\.000Z,txn_\w+,charge,"web, ""one"" month",-1\.25,0\.00,3\.75,$/)
  expect(second).toContain(",'=1+1,-2.00,0.00,1.75,")
  expect(end).toBe('')
  const asTool = await service.tool('get_statement', {}, { token })
  expect(asTool.body.csv).toBe(body.csv)
})

test('behavior: of a time, its start included and its end not; without lines it opens and closes alike', async () => {
  const { token, accountId } = await service.customer(5_000_000n)
  const start = service.clock.now().toISOString()
  service.clock.advance(60_000)
  const middle = service.clock.now().toISOString()
  await charge(accountId, 1_000_000n, 'a charge')
  service.clock.advance(60_000)
  const end = service.clock.now().toISOString()
  const between = async (from: string, to: string) => (await statement(token, `?from=${from}&to=${to}`)).body
  expect(await between(start, middle)).toMatchObject({ opening_balance: '0.00', closing_balance: '5.00' })
  expect(await between(middle, end)).toMatchObject({
    opening_balance: '5.00',
    closing_balance: '4.00',
    lines: 1,
  })
  expect(await between(end, end)).toMatchObject({
    opening_balance: '4.00',
    closing_balance: '4.00',
    lines: 0,
    csv: `${HEAD}\r\n`,
  })
  expect(await statement(token, `?from=${end}&to=${start}`)).toMatchObject({
    status: 422,
    body: { details: [{ path: 'from' }] },
  })
  expect((await statement(token, '?from=yesterday')).status).toBe(422)
})

test('default: to whoever accepts CSV it is a file; what is long goes on at the next link', async () => {
  const { token, accountId } = await service.customer(1_000_000_000n)
  const lines = 5_002
  await service.services.db.query(
    `select ledger_post('txn_' || $1 || n, 'charge', $1, null, 'n', $2, array['customer.available', 'revenue.vps'], array[-1, 1])
     from generate_series(1, $3::int) n`,
    [accountId, service.clock.now(), lines - 1],
  )
  service.clock.advance(1)
  const first = await statement(token, '', 'text/csv')
  expect(first.headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="statement.csv"',
    'cache-control': 'no-store',
  })
  const path = /^<(.+)>; rel="next"$/.exec(String(first.headers.link))![1]!
  const second = await service.ask('GET', path.slice(path.indexOf('/balance')), {
    token,
    headers: { accept: 'text/csv' },
  })
  expect(second.headers.link).toBeUndefined()
  const ids = [...column(first.body, 1), ...column(second.body, 1)]
  expect([ids.length, new Set(ids).size]).toEqual([lines, lines])
  expect((await statement('', '', 'text/csv')).status).toBe(401)
})
