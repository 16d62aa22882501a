import { expect, test } from 'vitest'
import { batched } from './batched.ts'

function doubling(most?: number) {
  const calls: number[][] = []
  const double = batched(async (given: number[]) => {
    calls.push(given)
    if (given.includes(-1)) throw new Error('minus one')
    return given.map((number) => number * 2)
  }, most)
  return { calls, double }
}

test('default: calls of one moment are one call, each with its own answer', async () => {
  const { calls, double } = doubling()
  expect(await Promise.all([1, 2, 2].map(double))).toEqual([2, 4, 4])
  expect(await double(5)).toBe(10)
  expect(calls).toEqual([[1, 2, 2], [5]])
})

test('behavior: no call has more than the most', async () => {
  const { calls, double } = doubling(2)
  expect(await Promise.all([1, 2, 3].map(double))).toEqual([2, 4, 6])
  expect(calls).toEqual([[1, 2], [3]])
})

test('error: what fails, fails for all that asked with it, and for no others', async () => {
  const { double } = doubling()
  await Promise.all([-1, 1].map((number) => expect(double(number)).rejects.toThrow('minus one')))
  expect(await double(1)).toBe(2)
})
