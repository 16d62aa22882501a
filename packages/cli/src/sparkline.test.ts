import { expect, test } from 'vitest'
import { sparkline } from './sparkline.ts'

test('default: from zero up to the largest', () => {
  expect(sparkline([0, 1, 2, 3, 4, 5, 6, 7], 80)).toBe('▁▂▃▄▅▆▇█')
  expect(sparkline([5, 5], 80)).toBe('██')
})

test('behavior: more values than there is room for are put together by their mean', () => {
  expect(sparkline([0, 0, 4, 4, 8, 8], 3)).toBe('▁▅█')
  expect(sparkline(Array(1000).fill(1), 40)).toHaveLength(40)
})

test('behavior: nothing, and nothing but zero', () => {
  expect(sparkline([], 10)).toBe('')
  expect(sparkline([0, 0, 0], 10)).toBe('▁▁▁')
})
