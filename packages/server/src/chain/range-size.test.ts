import { expect, test } from 'vitest'
import { rangeSize } from './range-size.ts'

test('default: as many blocks as there may be, until they are refused; then half of them', () => {
  const size = rangeSize(1_000)
  expect(size.blocks).toBe(1_000)
  expect(size.refused(1_000)).toBe(true)
  expect(size.blocks).toBe(500)
  expect(size.refused(64)).toBe(true)
  expect(size.blocks).toBe(32)
})

test('behavior: an eighth more after eight full ranges, and never more than the most', () => {
  const size = rangeSize(100)
  size.refused(100)
  for (let count = 0; count < 7; count++) size.answered(50)
  expect(size.blocks).toBe(50)
  size.answered(50)
  expect(size.blocks).toBe(56)
  for (let count = 0; count < 200; count++) size.answered(size.blocks)
  expect(size.blocks).toBe(100)
})

test('behavior: a range that is not full, as at the head of a chain, says nothing', () => {
  const size = rangeSize(100)
  size.refused(100)
  for (let count = 0; count < 100; count++) size.answered(1)
  expect(size.blocks).toBe(50)
})

test('behavior: a single block cannot be halved, and one more is tried later', () => {
  const size = rangeSize(100)
  expect(size.refused(1)).toBe(false)
  expect(size.blocks).toBe(1)
  for (let count = 0; count < 8; count++) size.answered(1)
  expect(size.blocks).toBe(2)
})
