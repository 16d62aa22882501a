import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { runOperator } from '../operator/run-operator.ts'
import { testOperator } from '../operator/testing.ts'
import { startTestService, type TestService } from '../process/testing.ts'
import { createTally, type PassReport, reportedPass } from './pass-report.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

const shown = async (name: string) => {
  const { stdout } = await runOperator(testOperator(service.services), ['background', '--json'])
  return JSON.parse(stdout).find((pass: { name: string }) => pass.name === name)
}
const passOf = (name: string, pass: () => Promise<PassReport | undefined>) =>
  reportedPass(service.services, name, pass)

test('default: the operator sees when a pass ended and what it did', async () => {
  await passOf('Counting', async () => ({ seen: 3, done: 2, failed: 1 }))()
  service.clock.advance(7_000)
  expect(await shown('Counting')).toMatchObject({
    ...{ seen: 3, done: 2, failed: 1, error: null, seconds_ago: 7 },
    took_ms: expect.any(Number),
    failed_at: expect.any(String),
  })
  const { stdout } = await runOperator(testOperator(service.services), ['background'])
  expect(stdout).toMatch(/Counting\s+7\s/)
})

test('behavior: a pass that fails is told of with its reason, and fails all the same', async () => {
  const failing = passOf('Failing', () => Promise.reject(new Error('The disk is away')))
  await expect(failing()).rejects.toThrow('The disk is away')
  expect(await shown('Failing')).toMatchObject({ failed: 1, error: 'The disk is away' })
})

test('behavior: what many passes did between two rows is in the second one, and quiet ones write nothing', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    const queries = vi.spyOn(service.services.db, 'query')
    let report: PassReport = { seen: 1, done: 1, failed: 0 }
    const pass = passOf('Often', async () => report)
    for (let round = 0; round < 5; round++) await pass()
    expect(queries).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(6_000)
    await pass()
    expect(await shown('Often')).toMatchObject({ done: 5 })
    report = { seen: 1, done: 0, failed: 0 }
    queries.mockClear()
    vi.advanceTimersByTime(6_000)
    await pass()
    expect(queries).not.toHaveBeenCalled()
    vi.advanceTimersByTime(60_000)
    await pass()
    expect(queries).toHaveBeenCalledTimes(1)
    queries.mockRestore()
  } finally {
    vi.useRealTimers()
  }
})

test('behavior: a pass goes on when it cannot be written down', async () => {
  const db = { query: () => Promise.reject(new Error('The database is away')) }
  const pass = reportedPass({ ...service.services, db: db as never }, 'Alone', async () => ({
    ...{ seen: 1, done: 1, failed: 0 },
  }))
  expect(await pass()).toMatchObject({ done: 1 })
})

test('default: a tally counts between two reports', () => {
  const tally = createTally()
  tally.done()
  tally.done()
  tally.failed()
  expect(tally.report(9, false)).toEqual({ seen: 9, done: 2, failed: 1, isIdle: false })
  expect(tally.report(9, true)).toEqual({ seen: 9, done: 0, failed: 0, isIdle: true })
})
