import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestService, type TestService } from '../process/testing.ts'
import { buyerOf } from '../sandboxes/life/testing.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const forEver = { timeout: 86_400, idle_timeout: 0 }

let service: TestService
beforeAll(async () => {
  // Half an hour before midnight.
  service = await startTestService()
  service.clock.advance(11.5 * HOUR_MS)
})
afterAll(() => service.close())

type Buyer = Awaited<ReturnType<typeof buyerOf>>
interface Line {
  id: string
  kind: string
  description: string
  amount: string
  held_change: string
  balance: string
  reference: string
}

async function pass(ms: number) {
  for (let left = ms; left > 0; left -= 30_000) {
    service.clock.advance(30_000)
    await service.reconcileSandboxes()
  }
}
const page = async (buyer: Buyer, query = ''): Promise<{ lines: Line[]; next: string | undefined }> => {
  const { body, headers } = await buyer.ask('GET', `/balance/transactions${query}`)
  return { lines: body, next: /[?&]cursor=([^&>]+)/.exec(String(headers.link))?.[1] }
}
const micro = (usd: string) => BigInt(Math.round(Number(usd) * 1e6))

/** Each balance is the one below with the amount, and the uppermost is the balance now. */
async function expectRunning(buyer: Buyer, lines: Line[]) {
  const amounts = lines.map(({ amount, balance }, index) => {
    const before = lines[index + 1]?.balance ?? '0.00'
    return micro(balance) - micro(before) === micro(amount)
  })
  expect(amounts).toEqual(lines.map(() => true))
  const { balance, held } = await buyer.balance()
  expect(lines[0]!.balance).toBe(balance)
  expect(lines.reduce((sum, { held_change }) => sum + micro(held_change), 0n)).toBe(micro(held))
}

test('default: a sandbox is one line a day, what is held for its next minute in the newest', async () => {
  const buyer = await buyerOf(service, 1_000_000n)
  const id = await buyer.sandbox(forEver)
  await pass(10 * MINUTE_MS)
  const { lines } = await page(buyer)
  expect(lines).toMatchObject([
    {
      kind: 'usage',
      description: `Sandbox ${id} (micro), 10 min 0 s`,
      amount: '-0.003025',
      held_change: '0.000275',
      reference: id,
    },
    { kind: 'adjustment', amount: '1.00', balance: '1.00' },
  ])
  await expectRunning(buyer, lines)

  await pass(30 * MINUTE_MS)
  const after = (await page(buyer)).lines
  expect(after.map(({ description, held_change }) => [description, held_change])).toEqual([
    [`Sandbox ${id} (micro), 10 min 30 s`, '0.000275'],
    [`Sandbox ${id} (micro), 29 min 30 s`, '0.00'],
    ['A gift', '0.00'],
  ])
  await expectRunning(buyer, after)

  await buyer.kill(id)
  await pass(5 * MINUTE_MS)
  const ended = (await page(buyer)).lines
  expect(ended.map(({ id }) => id)).toEqual(after.map(({ id }) => id))
  for (const { kind, amount } of ended) if (kind === 'usage') expect(Number(amount)).toBeLessThan(0)
  await expectRunning(buyer, ended)
  const { rows } = await service.services.db.query(
    `select count(*)::int as entries from ledger_transaction where account_id = $1 and kind = 'usage'`,
    [buyer.accountId],
  )
  expect(rows[0].entries).toBeGreaterThan(80)
})

test('behavior: many at once, beside other changes: a line each, and the CSV has the same', async () => {
  const buyer = await buyerOf(service, 1_000_000n)
  const from = new Date(service.clock.now().getTime() - 1).toISOString()
  const ids = [await buyer.sandbox(forEver), await buyer.sandbox({ ...forEver, tariff: 'small' })]
  await pass(2 * MINUTE_MS)
  await service.credit(buyer.accountId, 500_000n)
  ids.push(await buyer.sandbox(forEver))
  await buyer.kill(ids[0]!)
  await pass(2 * MINUTE_MS)
  const { lines } = await page(buyer)
  expect(lines.map(({ kind, reference }) => (kind === 'usage' ? reference : kind))).toEqual([
    ids[2],
    'adjustment',
    ids[1],
    ids[0],
    'adjustment',
  ])
  await expectRunning(buyer, lines)
  const to = new Date(service.clock.now().getTime() + 1).toISOString()
  const { body } = await buyer.ask('GET', `/balance/statement?from=${from}&to=${to}`)
  const csv = body.csv.trim().split('\r\n').slice(1)
  expect(csv.map((line: string) => line.split(',')[1])).toEqual(lines.map(({ id }) => id).reverse())
  expect(body).toMatchObject({ opening_balance: '0.00', closing_balance: lines[0]!.balance })
  expect((await buyer.ask('GET', `/balance/statement?from=${to}&to=${to}`)).body).toMatchObject({
    opening_balance: lines[0]!.balance,
    closing_balance: lines[0]!.balance,
  })
  for (const id of ids.slice(1)) await buyer.kill(id)
})

test('behavior: pages miss nothing and repeat nothing while sandboxes are charged, begin and end', async () => {
  const buyer = await buyerOf(service, 1_000_000n)
  const ids: string[] = []
  for (let count = 0; count < 5; count++) ids.unshift(await buyer.sandbox(forEver))
  await pass(MINUTE_MS)
  const seen: Line[] = []
  for (let cursor: string | undefined = '', first = true; cursor !== undefined; first = false) {
    const { lines, next }: Awaited<ReturnType<typeof page>> = await page(
      buyer,
      `?limit=2${first ? '' : `&cursor=${cursor}`}`,
    )
    seen.push(...lines)
    cursor = next
    await pass(MINUTE_MS)
    await buyer.sandbox(forEver)
    if (first) await buyer.kill(ids[3]!)
  }
  expect(seen.map(({ kind, reference }) => (kind === 'usage' ? reference : kind))).toEqual([
    ...ids,
    'adjustment',
  ])
})

test('behavior: one that never ran has no line', async () => {
  const buyer = await buyerOf(service, 1_000_000n)
  await buyer.create({ ...forEver, env: { FAKE: 'no-space' } })
  const lines = (await page(buyer)).lines
  expect(lines).toHaveLength(1)
})
