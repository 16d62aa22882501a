import { expect, test } from 'vitest'
import { isCovered, statusOf, toBePaid } from './invoice-state.ts'

const unpaid = { status: 'unpaid' as const, amount: 10n, received: 0n, pending: 0n }

test('default: an unpaid invoice is confirming while a payment waits for the chain', () => {
  expect(statusOf(unpaid)).toBe('unpaid')
  expect(statusOf({ ...unpaid, pending: 1n })).toBe('confirming')
})

test.each(['paid', 'expired', 'cancelled'] as const)('behavior: a further payment leaves it %s', (status) => {
  expect(statusOf({ ...unpaid, status, pending: 1n })).toBe(status)
})

test.each([
  ['nothing was seen', unpaid, 10n],
  ['a part was credited', { ...unpaid, received: 4n }, 6n],
  ['a part was credited, another seen', { ...unpaid, received: 4n, pending: 5n }, 1n],
  ['all was seen', { ...unpaid, pending: 10n }, 0n],
  ['more was seen', { ...unpaid, pending: 11n }, 0n],
  ['it expired', { ...unpaid, status: 'expired' as const }, 0n],
])('behavior: to be paid when %s', (_when, invoice, missing) => {
  expect(toBePaid(invoice)).toBe(missing)
})

test('behavior: covered by what was credited, to the last micro-dollar', () => {
  expect(isCovered({ amount: 10n, received: 9n })).toBe(false)
  expect(isCovered({ amount: 10n, received: 10n })).toBe(true)
})
