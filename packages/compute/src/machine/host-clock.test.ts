import { expect, test } from 'vitest'
import { pickTscKhz } from './host-clock.ts'

const flags = 'flags\t\t: fpu tsc constant_tsc hypervisor\ncpu MHz\t\t: 2596.122\n'

test('default: the last and best measurement in the kernel log', () => {
  const log = [
    '[    0.000000] tsc: Detected 2596.122 MHz processor',
    '[    1.300000] tsc: Refined TSC clocksource calibration: 2595.998 MHz',
  ].join('\n')
  expect(pickTscKhz(log, '')).toBe(2_595_998)
})

test("behavior: a virtual host's nominal frequency where the log is closed", () => {
  expect(pickTscKhz('', flags)).toBe(2_596_122)
})

test("behavior: a physical host's momentary frequency is not taken for the counter's", () => {
  expect(pickTscKhz('', flags.replace(' hypervisor', ''))).toBeUndefined()
})
