import { expect, test } from 'vitest'
import { type Counters, countersOf, usedSince } from './meter-delta.ts'

const reading = (change: Partial<Counters> = {}): Counters => ({
  at: 100_000,
  uptimeMs: 60_000,
  cpuMs: 5_000,
  diskRead: 1_000,
  diskWritten: 2_000,
  rx: 10,
  tx: 20,
  ...change,
})
const later = (change: Partial<Counters> = {}) =>
  reading({
    at: 115_000,
    uptimeMs: 75_000,
    cpuMs: 8_000,
    diskRead: 1_500,
    diskWritten: 2_000,
    rx: 15,
    tx: 21,
    ...change,
  })

test('default: what was used is the difference', () => {
  expect(usedSince(reading(), later(), { vcpus: 2, recentMs: 15_000 })).toEqual({
    coveredMs: 15_000,
    cpuMs: 3_000,
    diskRead: 500,
    diskWritten: 0,
    rx: 5,
    tx: 1,
  })
})

test('behavior: after a restart counters begin anew, and nothing is negative', () => {
  const restarted = later({ uptimeMs: 4_000, cpuMs: 900, diskRead: 300, diskWritten: 10, rx: 1, tx: 0 })
  expect(usedSince(reading(), restarted, { vcpus: 2, recentMs: 15_000 })).toEqual({
    coveredMs: 15_000,
    cpuMs: 900,
    diskRead: 300,
    diskWritten: 10,
    rx: 1,
    tx: 0,
  })
})

test('behavior: a restart shows by the uptime alone, when the new counters are already higher', () => {
  const busy = later({ uptimeMs: 4_000, cpuMs: 9_000, diskRead: 70_000 })
  expect(usedSince(reading(), busy, { vcpus: 2, recentMs: 15_000 })).toMatchObject({
    cpuMs: 9_000,
    diskRead: 70_000,
  })
})

test('behavior: the first reading of a machine that ran before says nothing of what it used', () => {
  expect(usedSince(undefined, reading(), { vcpus: 2, recentMs: 15_000 })).toBeUndefined()
})

test('behavior: of a machine that was just started, all was used since its start', () => {
  const fresh = reading({ uptimeMs: 8_000 })
  expect(usedSince(undefined, fresh, { vcpus: 2, recentMs: 15_000 })).toMatchObject({
    coveredMs: 8_000,
    cpuMs: 5_000,
    rx: 10,
  })
})

const guest = (busyMs: number, totalMs: number) => ({ guest: { busyMs, totalMs } })
const machine = { vcpus: 2, recentMs: 15_000 }

test('default: the processor time is the share that the guest itself has worked, of all its processors', () => {
  const used = usedSince(
    reading(guest(1_000, 60_000)),
    later({ cpuMs: 90_000, ...guest(4_000, 90_000) }),
    machine,
  )
  expect(used).toMatchObject({ coveredMs: 15_000, cpuMs: 3_000 })
})

test('behavior: a guest that was started since then counts anew', () => {
  const used = usedSince(
    reading(guest(50_000, 600_000)),
    later({ uptimeMs: 4_000, ...guest(2_000, 4_000) }),
    machine,
  )
  expect(used).toMatchObject({ coveredMs: 15_000, cpuMs: 15_000 })
})

test('behavior: of the first reading of a guest nothing is known: a clone has counted for its template', () => {
  for (const before of [undefined, reading({ uptimeMs: 60_000 })])
    expect(usedSince(before, later({ uptimeMs: 9_000, ...guest(50_000, 60_000) }), machine)).toMatchObject({
      coveredMs: null,
      cpuMs: null,
      diskRead: 1_500,
    })
})

test.each([
  ['a host that spent more on it than its processors could use', { cpuMs: 5_000 + 66_000 }],
  ['a guest that says so', { ...guest(900_000, 90_000) }],
])('behavior: never more than all of its processors, for %s', (_what, change) => {
  const before = 'guest' in change ? reading(guest(0, 60_000)) : reading()
  expect(usedSince(before, later(change), machine)).toMatchObject({ coveredMs: 15_000, cpuMs: 30_000 })
})

test('behavior: a counter that is not counted stays unknown, also when it begins to be', () => {
  expect(
    usedSince(reading({ rx: null, tx: null }), later({ rx: null }), { vcpus: 2, recentMs: 15_000 }),
  ).toMatchObject({
    rx: null,
    tx: null,
  })
})

test('default: counters come from what was observed; of a machine that does not run there are none', () => {
  const metrics = { cpuSeconds: 1.5, memoryBytes: 7, diskReadBytes: 3, diskWrittenBytes: 4, diskUsedBytes: 5 }
  const seen = { state: 'running', sshReady: true, uptimeSeconds: 9, metrics } as const
  expect(countersOf(seen, 77)).toEqual({
    at: 77,
    uptimeMs: 9_000,
    cpuMs: 1_500,
    diskRead: 3,
    diskWritten: 4,
    rx: null,
    tx: null,
  })
  expect(countersOf({ ...seen, metrics: { ...metrics, rxBytes: 1, txBytes: 2 } }, 77)).toMatchObject({
    rx: 1,
    tx: 2,
  })
  expect(countersOf({ state: 'stopped', sshReady: false }, 77)).toBeUndefined()
})
