import { expect, test } from 'vitest'
import { measureProcess, parseProcess } from './measure.ts'

test('default: counters of a process whose name is hostile', () => {
  const before = 'S 1 1 1 0 -1 4194560 1 0 0 0'
  const after = '1250 250 0 0 20 0 1 0 6000 1000000 512 0'
  expect(parseProcess(`42 (qemu) (x) ${before} ${after}`, '100.50 190.00')).toEqual({
    uptimeSeconds: 40,
    cpuSeconds: 15,
    memoryBytes: 512 * 4096,
  })
})

test('behavior: a real process', async () => {
  const { memoryBytes, cpuSeconds } = await measureProcess(process.pid)
  expect(memoryBytes / process.memoryUsage.rss()).toBeCloseTo(1, 0)
  expect(cpuSeconds).toBeGreaterThan(0)
})
