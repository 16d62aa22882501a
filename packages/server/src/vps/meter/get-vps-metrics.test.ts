import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'
import { createSampler } from './sample-machines.ts'

const MIB = 1024 ** 2
const STEP_MS = 15_000

let service: TestService
let token: string
let id: string
beforeAll(async () => {
  service = await startTestService({
    exception: 'metrics of each step',
    features: ['guestCommands'],
    env: { COINRACK_RATE_DEFAULT: '1000000/min' },
  })
  token = (await service.customer(10_000_000n)).token
  const { body } = await service.ask('POST', '/orders', { token, body: { product: 'nano', os_id: 1 } })
  id = body.service_id
  await service.reconcile()
})
afterAll(() => service.close())

/** So much a second, from the counters that it has now. */
const rate = { cpuSeconds: 0.5, diskReadBytes: 1_000, diskWrittenBytes: 2_000, rxBytes: 300, txBytes: 40 }
const zero = { cpuSeconds: 0, diskReadBytes: 0, diskWrittenBytes: 0, rxBytes: 0, txBytes: 0 }
let used = { ...zero }

/** Lets time pass in steps, each of which is sampled. */
async function live(seconds: number, sampler = createSampler(service.services)): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 15) {
    use(15)
    await sampler.pass()
  }
}
function use(seconds: number): void {
  service.clock.advance(seconds * 1000)
  for (const name of Object.keys(rate) as (keyof typeof rate)[]) used[name] += rate[name] * seconds
  service.driver.machines.get(id)!.metrics = { ...used, memoryBytes: 200 * MIB, diskUsedBytes: 0 }
}
const read = async (query = '') => {
  const { status, body } = await service.ask('GET', `/services/${id}/metrics${query}`, { token })
  expect(status).toBe(200)
  const series = Object.fromEntries(
    body.series.map(({ name, points }: { name: string; points: [number, number][] }) => [name, points]),
  ) as Record<string, [number, number][]>
  return { ...body, ...series }
}
const sum = (points: [number, number][]) => points.reduce((total, [, value]) => total + value, 0)
const now = () => service.clock.now().getTime() / 1000

test('default: a machine that was never observed has the series, and no points', async () => {
  const answer = await read()
  expect(answer.series.map(({ name, unit }: { name: string; unit: string }) => [name, unit])).toEqual([
    ['cpu_percent', 'percent'],
    ['memory_used_mb', 'mb'],
    ['disk_read_bytes', 'bytes'],
    ['disk_write_bytes', 'bytes'],
    ['rx_bytes', 'bytes'],
    ['tx_bytes', 'bytes'],
  ])
  expect(answer.cpu_percent).toEqual([])
})

test('default: the last hour in steps of 15 s', async () => {
  await live(60)
  use(15)
  const { step, cpu_percent, memory_used_mb, disk_read_bytes, tx_bytes } = await read()
  expect(step).toBe(15)
  expect(cpu_percent.map(([, value]: [number, number]) => value)).toEqual([50, 50, 50, 50])
  expect(memory_used_mb.at(-1)).toEqual([now() - 15, 200])
  expect(disk_read_bytes.at(-1)).toEqual([now() - 15, 15_000])
  expect(tx_bytes.at(-1)).toEqual([now() - 15, 600])
})

test('behavior: a step is sampled once, however often it is asked for, and by however many', async () => {
  await service.services.db.query('truncate vps_metric')
  const samplers = [createSampler(service.services), createSampler(service.services)]
  for (let step = 0; step < 4; step++) {
    use(15)
    for (const sampler of samplers) await Promise.all([sampler.pass(), sampler.pass()])
  }
  const { rows } = await service.services.db.query('select samples from vps_metric where part < 4')
  expect(rows).toHaveLength(4)
})

test('behavior: the next process goes on from the counters of the last', async () => {
  await service.services.db.query('truncate vps_metric')
  await live(60)
  use(30)
  await live(30)
  use(15)
  const { disk_write_bytes } = await read()
  // The first of all has nothing to compare with; nothing is lost between the two processes.
  expect(sum(disk_write_bytes)).toBe((60 - 15 + 60) * 2_000)
})

test('behavior: a restart of the guest shows no negative and no lost use', async () => {
  await service.services.db.query('truncate vps_metric')
  const sampler = createSampler(service.services)
  await live(60, sampler)
  used = { ...zero }
  service.driver.machines.get(id)!.startedAt = service.clock.now()
  await live(60, sampler)
  use(15)
  const { disk_read_bytes, cpu_percent } = await read()
  expect(sum(disk_read_bytes)).toBe((45 + 60) * 1_000)
  expect(Math.min(...cpu_percent.map(([, value]: [number, number]) => value))).toBe(50)
})

test('behavior: a step of one minute is the sum of its four', async () => {
  await service.services.db.query('truncate vps_metric')
  const sampler = createSampler(service.services)
  await live(660, sampler)
  const fine = await read('?range=1h&step=60')
  const coarse = await read('?range=24h&step=60')
  expect(coarse.step).toBe(60)
  for (const point of coarse.rx_bytes.slice(1)) expect(fine.rx_bytes).toContainEqual(point)
  expect(coarse.rx_bytes.length).toBeGreaterThan(8)
  expect((await read('?range=7d&step=15')).step).toBe(600)
})

test('behavior: machines that stand still leave a gap', async () => {
  await service.services.db.query('truncate vps_metric')
  const sampler = createSampler(service.services)
  await live(60, sampler)
  const machine = service.driver.machines.get(id)!
  const { startedAt } = machine
  machine.startedAt = undefined
  for (let step = 0; step < 4; step++) {
    service.clock.advance(STEP_MS)
    await sampler.pass()
  }
  machine.startedAt = startedAt
  await live(30, sampler)
  use(15)
  const { memory_used_mb } = await read()
  expect(memory_used_mb.map(([at]: [number]) => (now() - at) / 15).reverse()).toEqual([1, 2, 7, 8, 9, 10])
})

test('behavior: what is older than its resolution keeps is gone, and lives on in coarser ones', async () => {
  await service.services.db.query('truncate vps_metric')
  const sampler = createSampler(service.services)
  const begin = now()
  await live(4 * 3_600, sampler)
  const { rows } = await service.services.db.query<{ level: number; oldest: number; count: number }>(
    'select part / 4 as level, min(at)::float8 as oldest, count(*)::int as count from vps_metric group by 1 order by 1',
  )
  const [raw, minutes] = rows
  expect(raw!.oldest).toBeGreaterThan(begin + 2 * 3_600)
  expect(raw!.oldest).toBeLessThanOrEqual(now() - 3_600)
  expect(minutes!.oldest).toBeLessThan(begin + 60)
  expect(minutes!.count).toBeGreaterThanOrEqual(4 * 60 - 1)
  const { step, cpu_percent } = await read('?range=24h')
  expect(step).toBe(300)
  expect(cpu_percent.length).toBeGreaterThan(40)
  expect(new Set(cpu_percent.map(([, value]: [number, number]) => value))).toEqual(new Set([50]))
  const month = await read('?range=30d&step=3600')
  expect(month.cpu_percent.length).toBeGreaterThanOrEqual(3)
})

test('error: another range, and a step below what is ever kept', async () => {
  for (const query of ['?range=1y', '?step=1', '?step=x']) {
    const { status, body } = await service.ask('GET', `/services/${id}/metrics${query}`, { token })
    expect([status, body.code]).toEqual([422, 'invalid_input'])
  }
})

test('behavior: what a machine used before anybody could enter it is shown as well', async () => {
  const { body: order } = await service.ask('POST', '/orders', {
    token,
    body: { product: 'nano', os_id: 1, hostname: 'slow-boot' },
  })
  await service.reconcile()
  const machine = service.driver.machines.get(order.service_id)!
  const sampler = createSampler(service.services)
  for (const [seconds, written] of [
    [14, 3_000],
    [40, 5_000],
  ]) {
    service.clock.advance(seconds! * 1000)
    machine.metrics = { ...zero, diskWrittenBytes: written!, memoryBytes: 200 * MIB, diskUsedBytes: 0 }
    await sampler.pass()
  }
  service.driver.finishBoot(order.service_id)
  await service.reconcile()
  service.clock.advance(STEP_MS)
  const { body } = await service.ask('GET', `/services/${order.service_id}/metrics`, { token })
  const written = body.series.find(({ name }: { name: string }) => name === 'disk_write_bytes').points
  expect(sum(written)).toBe(5_000)
})

/** Another machine, that the tests look at from now on. */
async function another(): Promise<string> {
  const { body } = await service.ask('POST', '/orders', {
    token: (await service.customer(10_000_000n)).token,
    body: { product: 'nano', os_id: 1 },
  })
  await service.reconcile()
  id = body.service_id
  used = { ...zero }
  return id
}

/** The samples of its memory, in MB, the oldest first. */
async function memoryOf(machine: string): Promise<number[]> {
  const { rows } = await service.services.db.query<{ memory_mb: number }>(
    'select memory_mb from vps_metric where vps_id = $1 and part < 4 order by at',
    [machine],
  )
  return rows.map(({ memory_mb }) => memory_mb)
}

test('default: the view of the machine where it gives one: memory as free shows it, its own share of processors', async () => {
  const own = await another()
  const sampler = createSampler(service.services)
  for (let step = 1; step <= 4; step++) {
    // A guest that was busy for a tenth of the time, while the host spent far more than one processor.
    use(15)
    service.driver.machines.get(own)!.metrics!.cpuSeconds = step * 60
    service.guests.setUsage(own, {
      memoryUsedBytes: 53 * MIB,
      cpu: { busyMs: 40_000 + step * 1_500, totalMs: 90_000 + step * 15_000 },
    })
    await sampler.pass()
  }
  use(15)
  const { rows } = await service.services.db.query<{ memory_mb: number; cpu_ms: bigint | null }>(
    'select memory_mb, cpu_ms from vps_metric where vps_id = $1 and part < 4 order by at',
    [own],
  )
  expect(rows.map(({ memory_mb }) => memory_mb)).toEqual([53, 53, 53, 53])
  expect(rows.map(({ cpu_ms }) => cpu_ms)).toEqual([null, 1_500n, 1_500n, 1_500n])
})

test('behavior: a guest that is slow to answer leaves a gap; one that is silent for minutes is seen from the host', async () => {
  const own = await another()
  const sampler = createSampler(service.services)
  service.guests.setUsage(own, { memoryUsedBytes: 53 * MIB, cpu: { busyMs: 0, totalMs: 90_000 } })
  await live(30, sampler)
  service.guests.silence(own, true)
  await live(30, sampler)
  service.guests.silence(own, false)
  await live(15, sampler)
  expect(await memoryOf(own)).toEqual([53, 53, 53])
  service.guests.silence(own, true)
  await live(315, sampler)
  expect(await memoryOf(own)).toEqual([53, 53, 53, 200, 200])
})

test('behavior: a guest whose agent starts a little after SSH is soon asked again', async () => {
  const own = await another()
  const sampler = createSampler(service.services)
  service.guests.setUsage(own, { memoryUsedBytes: 53 * MIB, cpu: { busyMs: 0, totalMs: 90_000 } })
  service.guests.silence(own, true)
  await live(15, sampler)
  service.guests.silence(own, false)
  await live(30, sampler)
  expect(await memoryOf(own)).toEqual([200, 53, 53])
})
