import { expect, test } from 'vitest'
import { MOST_ATTEMPTS, retryPause } from './retry-pause.ts'

const always = (byte: number) => ({ bytes: (length: number) => new Uint8Array(length).fill(byte) })

test('default: each pause is longer than the one before, a fifth more or less', () => {
  const pauses = Array.from({ length: MOST_ATTEMPTS - 1 }, (_, n) => retryPause(n + 1, always(128))!)
  expect(pauses).toEqual(pauses.toSorted((a, b) => a - b))
  expect(retryPause(1, always(0))).toBe(4_000)
  expect(retryPause(1, always(255))).toBe(6_000)
})

test('behavior: after the last attempt there is none', () => {
  expect(retryPause(MOST_ATTEMPTS, always(0))).toBeUndefined()
})
