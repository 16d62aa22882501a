import { expect, test } from 'vitest'
import { planFlush } from './plan-flush.ts'

const of = (amount: bigint, token: 'USDC' | 'coin' = 'USDC') => ({
  address: `0x${amount}`,
  counter: amount,
  amount,
  ...(token === 'USDC' && { token: { symbol: token, address: '0x1' } }),
})
const amounts = (groups: ReturnType<typeof planFlush>) =>
  groups.map((group) => group.map(({ amount }) => amount))

test('default: the largest first, a group for each transaction', () => {
  expect(amounts(planFlush([of(1n), of(5n), of(3n), of(4n), of(2n)], 0n, 2))).toEqual([
    [5n, 4n],
    [3n, 2n],
    [1n],
  ])
})

test('behavior: what is below the threshold stays, coin goes all the same', () => {
  expect(amounts(planFlush([of(9n), of(10n), of(1n, 'coin'), of(0n)], 10n, 50))).toEqual([[10n, 1n]])
})

test('behavior: nothing is no transaction', () => {
  expect(planFlush([], 0n, 50)).toEqual([])
})
