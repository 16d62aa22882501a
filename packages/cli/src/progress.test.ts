import { expect, test } from 'vitest'
import { createProgress } from './progress.ts'

test('default: what was done and what is under way, with the seconds since the start', () => {
  let now = 5_000
  const lines: string[] = []
  const progress = createProgress(
    () => now,
    (line) => lines.push(line),
  )
  progress.done('get_started', '6 steps')
  now += 1_250
  progress.note('waiting')
  now += 61_000
  progress.note('waiting')
  progress.note('seen')
  progress.done('get_invoice', 'paid')
  progress.note('seen')
  expect(lines).toEqual([
    '   0.0 s  ✓ get_started        6 steps',
    '   1.3 s  · waiting',
    '  62.3 s  · seen',
    '  62.3 s  ✓ get_invoice        paid',
    '  62.3 s  · seen',
  ])
})
