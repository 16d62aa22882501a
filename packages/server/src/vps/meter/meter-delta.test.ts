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
  expect(usedSince(reading(), later(), 15_000)).toEqual({
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
  expect(usedSince(reading(), restarted, 15_000)).toEqual({
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
  expect(usedSince(reading(), busy, 15_000)).toMatchObject({ cpuMs: 9_000, diskRead: 70_000 })
})

test('behavior: the first reading of a machine that ran before says nothing of what it used', () => {
  expect(usedSince(undefined, reading(), 15_000)).toBeUndefined()
})

test('behavior: of a machine that was just started, all was used since its start', () => {
  const fresh = reading({ uptimeMs: 8_000 })
  expect(usedSince(undefined, fresh, 15_000)).toMatchObject({ coveredMs: 8_000, cpuMs: 5_000, rx: 10 })
})

test('behavior: a counter that is not counted stays unknown, also when it begins to be', () => {
  expect(usedSince(reading({ rx: null, tx: null }), later({ rx: null }), 15_000)).toMatchObject({
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
