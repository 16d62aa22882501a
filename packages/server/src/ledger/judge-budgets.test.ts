import { expect, test } from 'vitest'
import type { HolderOfBudget } from '../platform/budget-exceeded.ts'
import { judgeBudgets, judgeChildBudget } from './judge-budgets.ts'

const holder = (token_id: string, change: Partial<HolderOfBudget> = {}): HolderOfBudget => ({
  token_id,
  parent_id: null,
  is_umbrella: false,
  allow_auto_renew: true,
  max_per_charge: null,
  per_day: null,
  total: null,
  max_live_vps: null,
  max_live_sandboxes: null,
  spent: 0n,
  spent_today: 0n,
  ahead: 0n,
  live: 0n,
  approve_per_call: null,
  approve_per_day: null,
  unapproved_today: 0n,
  ...change,
})

test('default: without caps nothing is refused', () => {
  expect(judgeBudgets([holder('a', { spent: 10n ** 15n, live: 1000n })], 10n ** 15n, 'max_live_vps')).toBe(
    undefined,
  )
})

test.each([
  ['max_per_charge', { max_per_charge: 5n }, 5n, undefined],
  ['max_per_charge', { max_per_charge: 5n, spent: 100n }, 6n, { limit: 5n, used: 0n, shortBy: 1n }],
  ['per_day', { per_day: 10n, spent_today: 5n }, 5n, undefined],
  ['per_day', { per_day: 10n, spent_today: 5n, spent: 50n }, 7n, { limit: 10n, used: 5n, shortBy: 2n }],
  ['total', { total: 10n, spent: 4n }, 6n, undefined],
  ['total', { total: 10n, spent: 4n }, 9n, { limit: 10n, used: 4n, shortBy: 3n }],
  ['total', { total: 0n }, 1n, { limit: 0n, used: 0n, shortBy: 1n }],
  // The cap was lowered below what is spent, but an order that costs nothing is still allowed.
  ['total', { total: 1n, spent: 4n }, 0n, undefined],
  ['max_live_vps', { max_live_vps: 2n, live: 1n }, 1n, undefined],
  ['max_live_vps', { max_live_vps: 2n, live: 2n }, 1n, { limit: 2n, used: 2n, shortBy: 1n }],
] as const)('behavior: %s of %o and a charge of %s', (cap, change, amount, refused) => {
  expect(judgeBudgets([holder('a', change)], amount, 'max_live_vps')).toEqual(
    refused && { ...refused, cap, holder: holder('a', change), below: undefined },
  )
})

test('behavior: live machines are not counted for what makes none', () => {
  expect(judgeBudgets([holder('a', { max_live_vps: 1n, live: 1n })], 1n)).toBe(undefined)
})

test('behavior: the caps of all above it hold for a token, the highest first', () => {
  const above = [holder('top', { total: 3n }), holder('middle'), holder('low', { total: 1n })]
  expect(judgeBudgets(above, 5n)).toMatchObject({
    holder: { token_id: 'top' },
    below: { token_id: 'middle' },
    shortBy: 2n,
  })
  expect(judgeBudgets(above, 2n)).toMatchObject({ holder: { token_id: 'low' }, shortBy: 1n })
})

test('behavior: a new budget has no cap above one that it stands below; what it leaves out is theirs', () => {
  const above = [holder('top', { total: 10n, max_live_vps: 1n }), holder('middle', { per_day: 2n })]
  expect(judgeChildBudget(above, holder('new'))).toBe(undefined)
  expect(judgeChildBudget(above, holder('new', { total: 10n, per_day: 2n }))).toBe(undefined)
  expect(judgeChildBudget(above, holder('new', { total: 12n }))).toMatchObject({
    cap: 'total',
    limit: 10n,
    shortBy: 2n,
  })
  expect(judgeChildBudget(above, holder('new', { max_live_vps: 2n }))).toMatchObject({ cap: 'max_live_vps' })
})

test('behavior: a child has no higher limit for approvals than one above it', () => {
  const above = [holder('top', { approve_per_day: 5n }), holder('middle', { approve_per_call: 2n })]
  expect(judgeChildBudget(above, holder('new', { approve_per_day: 5n, approve_per_call: 2n }))).toBe(
    undefined,
  )
  expect(judgeChildBudget(above, holder('new', { approve_per_day: 6n }))).toMatchObject({
    holder: { token_id: 'top' },
    cap: 'approve_above.per_day',
    shortBy: 1n,
  })
  expect(judgeChildBudget(above, holder('new', { approve_per_call: 3n }))).toMatchObject({
    cap: 'approve_above.per_call',
  })
})
