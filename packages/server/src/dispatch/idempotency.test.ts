import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createApp } from '../process/app.ts'
import { createMetrics } from '../process/metrics.ts'
import { createReadiness } from '../process/readiness.ts'
import { startTestService, type TestService } from '../process/testing.ts'
import { forgetOldAnswers } from './idempotency.ts'

const DAY_MS = 86_400_000

let service: TestService
let token: string
let accountId: string
beforeAll(async () => {
  service = await startTestService({ features: ['guestCommands'], env: { COINRACK_RATE_ORDERS: '1000/min' } })
})
afterAll(() => service.close())
beforeEach(async () => {
  ;({ token, accountId } = await service.customer(10_000_000n))
})

const order = (key: string, body: object = {}, by = token) =>
  service.ask('POST', '/orders', {
    token: by,
    body: { product: 'nano', os_id: 1, ...body },
    headers: { 'idempotency-key': key },
  })
const ordersOf = async (by = token) => (await service.ask('GET', '/orders/list', { token: by })).body
const stored = async () =>
  (await service.services.db.query('select * from idempotent_answer where account_id = $1', [accountId])).rows

test('default: the same key and input has the effect of one, and the same answer', async () => {
  const first = await order('key-1')
  const again = await order('key-1')
  expect(first.status).toBe(200)
  expect(again.body).toEqual(first.body)
  expect(first.headers['idempotent-replayed']).toBeUndefined()
  expect(again.headers['idempotent-replayed']).toBe('true')
  expect(await ordersOf()).toHaveLength(1)
})

test('behavior: without a key, or with another, it is another order', async () => {
  await order('key-1')
  await order('key-2')
  await service.ask('POST', '/orders', { token, body: { product: 'nano', os_id: 1 } })
  expect(await ordersOf()).toHaveLength(3)
})

test('behavior: the same input in another order of its fields is the same input', async () => {
  const headers = { 'idempotency-key': 'fields' }
  const send = (body: string) => service.ask('POST', '/orders', { token, body, headers })
  await send('{"product":"nano","os_id":1,"hostname":"web"}')
  const again = await send('{"hostname":"web","os_id":1,"product":"nano"}')
  expect(again.headers['idempotent-replayed']).toBe('true')
})

test('error: the same key with another input or for another operation', async () => {
  await order('key-1')
  const refused = { status: 422, body: { code: 'idempotency_key_reused' } }
  expect(await order('key-1', { product: 'micro' })).toMatchObject(refused)
  const elsewhere = await service.ask('POST', '/balance/topup', {
    token,
    body: { amount: 5 },
    headers: { 'idempotency-key': 'key-1' },
  })
  expect(elsewhere).toMatchObject(refused)
  expect(await ordersOf()).toHaveLength(1)
})

test('behavior: a key is of one token: another account may use the same', async () => {
  const other = await service.customer(10_000_000n)
  const [mine, theirs] = [await order('shared'), await order('shared', {}, other.token)]
  expect(theirs.headers['idempotent-replayed']).toBeUndefined()
  expect(theirs.body.id).not.toBe(mine.body.id)
})

test('behavior: of twenty at the same moment one runs; the others are told to wait, or get its answer', async () => {
  const all = await Promise.all(Array.from({ length: 20 }, () => order('race')))
  const ran = all.filter(({ status, headers }) => status === 200 && !headers['idempotent-replayed'])
  expect(ran).toHaveLength(1)
  for (const { status, body } of all) {
    if (status === 200) expect(body.id).toBe(ran[0]!.body.id)
    else expect([status, body.code]).toEqual([409, 'idempotency_running'])
  }
  expect(await ordersOf()).toHaveLength(1)
})

test('behavior: as a tool and by REST a key is the same key', async () => {
  const { body } = await order('both')
  const tool = await service.tool(
    'order_vps',
    { product: 'nano', os_id: 1, idempotency_key: 'both' },
    { token },
  )
  expect(tool.body.id).toBe(body.id)
  expect(await ordersOf()).toHaveLength(1)
})

describe('behavior: what changed nothing releases the key', () => {
  test('422, then the same key with the corrected input', async () => {
    expect((await order('typo', { product: 'nono' })).status).toBe(422)
    expect((await order('typo')).status).toBe(200)
  })

  test('402, then the same key once there is money', async () => {
    const poor = await service.customer()
    expect((await order('poor', {}, poor.token)).status).toBe(402)
    await service.credit(poor.accountId, 5_000_000n)
    const paid = await order('poor', {}, poor.token)
    expect(paid.status).toBe(200)
    expect(paid.headers['idempotent-replayed']).toBeUndefined()
    expect(await ordersOf(poor.token)).toHaveLength(1)
  })

  test('409 and 503', async () => {
    await service.hostSays({ capacity: { vcpus: 0, memoryMb: 0, diskGb: 0 } })
    expect((await order('full')).status).toBe(503)
    await service.hostSays()
    expect((await order('full')).status).toBe(200)
  })
})

describe('what runs on a machine', () => {
  let machine: string
  beforeEach(async () => {
    machine = (await order('machine')).body.service_id
    await service.reconcile()
  })
  const commandOf = (key: string, command: string) => ({
    method: 'POST' as const,
    url: `/api/v1/eqvps/services/${machine}/exec`,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    payload: JSON.stringify({ command }),
  })

  test('error: a write with the key of a command that still runs waits for it, and both are answered', async () => {
    const running = service.app.inject(commandOf('of-both', 'sleep 0.5; echo done'))
    await sleep(200)
    const update = () =>
      service.ask('PATCH', '/account', {
        token,
        body: { first_name: 'Ada' },
        headers: { 'idempotency-key': 'of-both' },
      })
    const meanwhile = await update()
    expect([meanwhile.status, meanwhile.body.code]).toEqual([409, 'idempotency_running'])
    expect((await running).statusCode).toBe(200)
    expect((await update()).body.code).toBe('idempotency_key_reused')
  })

  test('behavior: of the same call on two replicas at the same moment one runs; then its answer is given', async () => {
    const services = { ...service.services }
    const replica = createApp(services, createReadiness(services), createMetrics())
    const call = commandOf('once', 'sleep 0.3; echo x >>"$ROOT/runs"; cat "$ROOT/runs"')
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, index) => (index % 2 ? service.app : replica).inject(call)),
    )
    expect(all.map(({ statusCode }) => statusCode).sort()).toEqual([200, ...Array(9).fill(409)])
    const again = await replica.inject(call)
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(again.json().stdout).toBe('x\n')
    expect((await services.db.query('select from idempotent_run')).rowCount).toBe(0)
    await replica.close()
  })

  test('behavior: one that goes on for long is not begun again', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const waits = 'until [ -e "$ROOT/go" ]; do sleep 0.05; done; echo z'
    const first = service.app.inject(commandOf('long', waits))
    for (let minutes = 0; minutes < 5; minutes++) {
      await sleep(100)
      service.clock.advance(60_000)
      vi.advanceTimersByTime(60_000)
    }
    expect((await service.app.inject(commandOf('long', waits))).json().code).toBe('idempotency_running')
    await service.app.inject(commandOf('other', 'touch "$ROOT/go"'))
    expect((await first).json().stdout).toBe('z\n')
    expect((await service.app.inject(commandOf('long', waits))).headers['idempotent-replayed']).toBe('true')
  })

  test('behavior: an answer above 64 kB is given once; a repeat is told so, and nothing runs again', async () => {
    const call = commandOf('large', 'echo x >>"$ROOT/large"; head -c 70000 /dev/zero | tr "\\0" x')
    const first = await service.app.inject(call)
    expect([first.statusCode, first.json().stdout.length]).toEqual([200, 70_000])
    const again = await service.app.inject(call)
    expect([again.statusCode, again.json().code]).toEqual([409, 'answer_not_kept'])
    const other = await service.app.inject({ ...call, payload: JSON.stringify({ command: 'true' }) })
    expect(other.json().code).toBe('idempotency_key_reused')
    const runs = await service.app.inject(commandOf('runs', 'cat "$ROOT/large"'))
    expect(runs.json().stdout).toBe('x\n')
    const { rows } = await service.services.db.query<{ bytes: number }>(
      'select max(octet_length(answer)) as bytes from idempotent_answer',
    )
    expect(rows[0]!.bytes).toBeLessThan(66_000)
  })

  test('behavior: one that failed, and one whose service was killed, can be sent again', async () => {
    service.guests.silence(machine, true)
    expect((await service.app.inject(commandOf('again', 'true'))).statusCode).toBe(409)
    service.guests.silence(machine, false)
    const { db, clock } = service.services
    const call = commandOf('again', 'echo y')
    expect((await service.app.inject(call)).statusCode).toBe(200)

    // As a killed one leaves it: the run is noted, and there is no answer.
    await db.query(
      `with gone as (delete from idempotent_answer where account_id = $1 returning account_id, key_hash)
       insert into idempotent_run select *, $2::timestamptz from gone`,
      [accountId, clock.now()],
    )
    expect((await service.app.inject(call)).statusCode).toBe(409)
    service.clock.advance(120_001)
    expect((await service.app.inject(call)).statusCode).toBe(200)
  })
})

describe('what is stored', () => {
  test('behavior: neither the key nor the answer can be read from the database', async () => {
    const key = 'a-key-that-nobody-guesses'
    const { body } = await order(key)
    const [row] = await stored()
    const bytes = Buffer.concat([row!.key_hash, row!.input_hash, row!.answer])
    for (const secret of [key, body.id, body.service_id, 'hostname'])
      expect(bytes.includes(secret)).toBe(false)
  })

  test('behavior: it is forgotten after a day, and not before', async () => {
    await order('old')
    service.clock.advance(DAY_MS)
    await forgetOldAnswers(service.services)
    expect(await stored()).toHaveLength(1)
    service.clock.advance(1)
    await forgetOldAnswers(service.services)
    expect(await stored()).toHaveLength(0)
  })

  test('behavior: a write that fails half-way leaves no answer and no effect', async () => {
    const { invoicing, newId } = service.services
    service.services.newId = (kind) => {
      if (kind === 'hold') throw new Error('The process was killed here')
      return newId(kind)
    }
    const { status, body } = await order('killed')
    Object.assign(service.services, { invoicing, newId })
    expect([status, body.code]).toEqual([500, 'internal'])
    expect(JSON.stringify(body)).not.toContain('killed')
    expect(await stored()).toHaveLength(0)
    expect(await ordersOf()).toHaveLength(0)
    expect((await order('killed')).status).toBe(200)
  })
})
