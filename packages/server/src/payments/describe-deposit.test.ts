import { expect, test } from 'vitest'
import { describeDeposit } from './describe-deposit.ts'

const deposit = { token: 'USDC', tx_hash: '0xabc' } as const
const came = 'USDC received on base, transaction 0xabc'

test.each([
  ['unpaid', 'topup', ''],
  ['unpaid', 'order', ''],
  ['expired', 'topup', ', which had expired'],
  ['cancelled', 'order', ', which was cancelled: it is on the balance, and nothing was ordered with it'],
  ['paid', 'renewal', ', which was paid already: it is on the balance, and nothing was ordered with it'],
  ['paid', 'topup', ', which was paid already'],
] as const)('default: for an invoice that is %s, of the kind %s', (status, kind, rest) => {
  expect(describeDeposit(deposit, 'base', { id: 'inv_1', status, kind })).toBe(
    `${came}, for invoice inv_1${rest}`,
  )
})

test('behavior: without an invoice', () => {
  expect(describeDeposit(deposit, 'base', undefined)).toBe(came)
})
