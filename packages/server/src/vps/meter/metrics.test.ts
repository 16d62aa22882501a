import type { VpsObservation } from '@coinrack/compute/ports/vps-driver.ts'
import { expect, test } from 'vitest'
import { metricsOf, type Sample } from './metrics.ts'

const seen = (cpuSeconds: number): VpsObservation => ({
  state: 'running',
  sshReady: true,
  uptimeSeconds: 61.9,
  metrics: {
    cpuSeconds,
    memoryBytes: 300.4 * 1024 ** 2,
    diskReadBytes: 1,
    diskWrittenBytes: 1,
    diskUsedBytes: 1.256 * 1024 ** 3,
  },
})

const since = (before: Sample | undefined) => ({ before, vcpus: 2, newest: undefined })
const newest = { at: 15_000, memoryMb: 53, cpuPercent: 4.5 }

test('default: memory and processor as the machine itself says, while that is new', () => {
  const before = { at: 10_000, cpuSeconds: 0 }
  const shown = (at: number) => {
    const { cpu_percent, memory_used_mb } = metricsOf(seen(30), at, { before, vcpus: 2, newest })
    return [cpu_percent, memory_used_mb]
  }
  expect(shown(20_000)).toEqual([4.5, 53])
  // As the host sees it, and not more than both processors.
  expect(shown(76_000)).toEqual([45.5, 300])
})

test('behavior: what a machine said before its start is shown no more', () => {
  const started = { ...seen(30), uptimeSeconds: 3 }
  const known = { before: undefined, vcpus: 2, newest }
  expect(metricsOf(started, 20_000, known)).toMatchObject({ cpu_percent: null, memory_used_mb: 300 })
})

test('behavior: never above 100 percent for each processor', () => {
  expect(metricsOf(seen(44), 10_000, since({ at: 0, cpuSeconds: 0 })).cpu_percent).toBe(200)
})

test('default: what was seen, in the units of the interface', () => {
  expect(metricsOf(seen(30), 20_000, since({ at: 10_000, cpuSeconds: 25 }))).toEqual({
    cpu_percent: 50,
    memory_used_mb: 300,
    disk_used_gb: 1.26,
    rx_bytes: null,
    tx_bytes: null,
    uptime_s: 61,
  })
})

test('behavior: two busy processors are 200 percent', () => {
  expect(metricsOf(seen(20), 10_000, since({ at: 0, cpuSeconds: 0 })).cpu_percent).toBe(200)
})

test.each([
  ['without an earlier sample', undefined],
  ['after a restart, when the counter began anew', { at: 0, cpuSeconds: 500 }],
  ['at the same moment', { at: 10_000, cpuSeconds: 1 }],
])('behavior: no percentage %s', (_when, before) => {
  expect(metricsOf(seen(20), 10_000, since(before)).cpu_percent).toBeNull()
})

test('behavior: null where nothing was seen', () => {
  const nothing = metricsOf({ state: 'absent', sshReady: false }, 0, since(undefined))
  expect(new Set(Object.values(nothing))).toEqual(new Set([null]))
})
