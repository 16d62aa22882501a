import type { VpsObservation } from '@coinrack/compute/vps-driver.ts'
import { expect, test } from 'vitest'
import { metricsOf } from './metrics.ts'

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

test('default: what was seen, in the units of the interface', () => {
  expect(metricsOf(seen(30), 20_000, { at: 10_000, cpuSeconds: 25 })).toEqual({
    cpu_percent: 50,
    memory_used_mb: 300,
    disk_used_gb: 1.26,
    rx_bytes: null,
    tx_bytes: null,
    uptime_s: 61,
  })
})

test('behavior: two busy processors are 200 percent', () => {
  expect(metricsOf(seen(20), 10_000, { at: 0, cpuSeconds: 0 }).cpu_percent).toBe(200)
})

test.each([
  ['without an earlier sample', undefined],
  ['after a restart, when the counter began anew', { at: 0, cpuSeconds: 500 }],
  ['at the same moment', { at: 10_000, cpuSeconds: 1 }],
])('behavior: no percentage %s', (_when, before) => {
  expect(metricsOf(seen(20), 10_000, before).cpu_percent).toBeNull()
})

test('behavior: null where nothing was seen', () => {
  const nothing = metricsOf({ state: 'absent', sshReady: false }, 0, undefined)
  expect(new Set(Object.values(nothing))).toEqual(new Set([null]))
})
