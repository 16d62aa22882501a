import { changeOf, entriesOf } from '@coinrack/money/index.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { creditPostings, reversalPostings } from './deposit-postings.ts'

describe('crediting', () => {
  test('default: all of it can be spent', () => {
    expect(creditPostings(10n, 0n, 1, 'USDC')).toEqual([
      { from: 'treasury.1.USDC', to: 'customer.available', amount: 10n },
    ])
  })
  test('behavior: what is owed is paid first', () => {
    expect(creditPostings(10n, 4n, 1, 'USDC')).toEqual([
      { from: 'treasury.1.USDC', to: 'customer.owed', amount: 4n },
      { from: 'treasury.1.USDC', to: 'customer.available', amount: 6n },
    ])
  })
  test('behavior: less than is owed pays only that', () => {
    expect(creditPostings(4n, 10n, 1, 'USDC')).toEqual([
      { from: 'treasury.1.USDC', to: 'customer.owed', amount: 4n },
    ])
  })
})

describe('taking back', () => {
  test('default: all of it from the balance', () => {
    expect(reversalPostings(10n, 12n, 137, 'USDT')).toEqual([
      { from: 'customer.available', to: 'treasury.137.USDT', amount: 10n },
    ])
  })
  test('behavior: what was spent is owed', () => {
    expect(reversalPostings(10n, 3n, 137, 'USDT')).toEqual([
      { from: 'customer.available', to: 'treasury.137.USDT', amount: 3n },
      { from: 'customer.owed', to: 'treasury.137.USDT', amount: 7n },
    ])
  })
})

test('behavior: a deposit that is taken back leaves the treasury as it was, whatever was spent meanwhile', () => {
  const amounts = fc.bigInt(1n, 10n ** 12n)
  const balances = fc.bigInt(0n, 10n ** 12n)
  fc.assert(
    fc.property(amounts, balances, balances, (amount, owed, left) => {
      const entries = [
        ...entriesOf(creditPostings(amount, owed, 1, 'USDC')),
        ...entriesOf(reversalPostings(amount, left, 1, 'USDC')),
      ]
      expect(changeOf('treasury.1.USDC', entries)).toBe(0n)
    }),
  )
})
