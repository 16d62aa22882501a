import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hostCapacity } from './host-capacity.ts'

test('behavior: a disk that is promised three times holds three times as much, and memory as before', async () => {
  const machines = join(tmpdir(), 'no-machines-here')
  const once = await hostCapacity(tmpdir(), machines)
  const thrice = await hostCapacity(tmpdir(), machines, 3)
  expect(once.diskGb).toBeGreaterThan(0)
  // The disk of a test is written to by others meanwhile.
  expect(thrice.diskGb / once.diskGb).toBeCloseTo(3, 0)
  expect(thrice.memoryMb).toBe(once.memoryMb)
})
