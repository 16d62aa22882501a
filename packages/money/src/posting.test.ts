import fc from 'fast-check'
import { expect, test } from 'vitest'
import { customerAccounts, type LedgerAccount, treasuryAccount } from './chart-of-accounts.ts'
import { capture, release, reserve } from './hold.ts'
import { changeOf, entriesOf, type Posting } from './posting.ts'

const accounts: LedgerAccount[] = [
  ...customerAccounts,
  treasuryAccount(8453, 'USDC'),
  'revenue.vps',
  'house.adjustments',
]
const anyPosting = fc
  .record({
    from: fc.constantFrom(...accounts),
    to: fc.constantFrom(...accounts),
    amount: fc.bigInt({ min: 1n, max: 10n ** 18n }),
  })
  .filter(({ from, to }) => from !== to)

test('default: two entries for each posting, in order', () => {
  expect(
    entriesOf([
      { from: treasuryAccount(1, 'USDC'), to: 'customer.available', amount: 5n },
      { from: 'customer.available', to: 'customer.held', amount: 2n },
    ]),
  ).toEqual([
    { account: 'treasury.1.USDC', amount: -5n },
    { account: 'customer.available', amount: 5n },
    { account: 'customer.available', amount: -2n },
    { account: 'customer.held', amount: 2n },
  ])
})

test('behavior: entries of any postings sum to zero', () => {
  fc.assert(
    fc.property(fc.array(anyPosting), (postings) => {
      expect(entriesOf(postings).reduce((sum, entry) => sum + entry.amount, 0n)).toBe(0n)
    }),
  )
})

test('behavior: the changes of all accounts sum to zero', () => {
  fc.assert(
    fc.property(fc.array(anyPosting), (postings) => {
      const entries = entriesOf(postings)
      expect(accounts.reduce((sum, account) => sum + changeOf(account, entries), 0n)).toBe(0n)
    }),
  )
})

test.each([0n, -1n])('error: an amount of %s moves nothing', (amount) => {
  const posting: Posting = { from: 'customer.available', to: 'revenue.vps', amount }
  expect(() => entriesOf([posting])).toThrow(RangeError)
})

test('error: a posting onto itself', () => {
  const posting: Posting = { from: 'customer.held', to: 'customer.held', amount: 1n }
  expect(() => entriesOf([posting])).toThrow(RangeError)
})

test('behavior: a hold that is released leaves the customer as before', () => {
  const entries = entriesOf([...reserve(7n), ...release(7n)])
  expect(customerAccounts.map((account) => changeOf(account, entries))).toEqual([0n, 0n, 0n])
})

test('behavior: a hold that is captured is revenue, and nothing stays reserved', () => {
  const entries = entriesOf([...reserve(7n), ...capture(7n)])
  expect(changeOf('customer.available', entries)).toBe(-7n)
  expect(changeOf('customer.held', entries)).toBe(0n)
  expect(changeOf('revenue.vps', entries)).toBe(7n)
})
