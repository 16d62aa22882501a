import { expect, test } from 'vitest'
import { readUsage } from './guest-usage.ts'

const STAT = 'cpu  100 20 30 800 40 5 5 10 7 0\ncpu0 50 10 15 400 20 2 3 5 0 0\n'
const MEMINFO =
  'MemTotal:         480000 kB\nMemFree:          100000 kB\nMemAvailable:     425728 kB\nBuffers: 1 kB\n'

test('default: memory as free shows it, and the time that processors worked of all that is counted', () => {
  expect(readUsage(STAT, MEMINFO)).toEqual({
    memoryUsedBytes: 53 * 1024 ** 2,
    cpu: { busyMs: 1_600, totalMs: 10_100 },
  })
})

test.each([
  ['no processors', 'cpu0 1 2 3 4 5 6 7 8\n', MEMINFO],
  ['too few numbers', 'cpu  1 2 3\n', MEMINFO],
  ['what is no number', 'cpu  1 2 3 4 5 6 7 x\n', MEMINFO],
  ['no memory', STAT, 'MemTotal: 1 kB\n'],
  ['more memory available than there is', STAT, 'MemTotal: 1 kB\nMemAvailable: 2 kB\n'],
  ['nothing', '', ''],
])('error: a guest that says %s', (_what, stat, meminfo) => {
  expect(() => readUsage(stat, meminfo)).toThrow('does not count as Linux')
})
