import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { confirmationPolicies, decideConfirmation } from './confirmation-policy.ts'

const usd = (amount: number) => BigInt(amount * 1_000_000)
const none = { notSafe: 0n, notFinalized: 0n }
const heights = { head: 1000, safe: 990, finalized: 980 }
const at = (
  network: keyof typeof confirmationPolicies,
  amount: bigint,
  confirmations: number,
  early = none,
  chain = heights,
) =>
  decideConfirmation(
    confirmationPolicies[network],
    { amount, block: chain.head - confirmations + 1 },
    chain,
    early,
  )

describe('the table of networks, amounts and confirmations', () => {
  test.each([
    // network, US dollars, confirmations (safe is 11 deep, finalized 21 deep), enough, waits for
    ['base', 0.000001, 4, false, 5],
    ['base', 0.000001, 5, true, 5],
    ['base', 100, 4, false, 5],
    ['base', 100, 5, true, 5],
    ['base', 100.000001, 5, false, 'safe'],
    ['base', 100.000001, 10, false, 'safe'],
    ['base', 100.000001, 11, true, 'safe'],
    ['base', 1_000_000, 11, true, 'safe'],
    ['ethereum', 50, 2, false, 3],
    ['ethereum', 50, 3, true, 3],
    ['ethereum', 50.000001, 3, false, 'safe'],
    ['ethereum', 50.000001, 10, false, 'safe'],
    ['ethereum', 50.000001, 11, true, 'safe'],
    ['ethereum', 1000, 10, false, 'safe'],
    ['ethereum', 1000, 11, true, 'safe'],
    ['ethereum', 1000.000001, 11, false, 'finalized'],
    ['ethereum', 1000.000001, 20, false, 'finalized'],
    ['ethereum', 1000.000001, 21, true, 'finalized'],
    ['polygon', 0.000001, 20, false, 'finalized'],
    ['polygon', 0.000001, 21, true, 'finalized'],
    ['polygon', 1_000_000, 20, false, 'finalized'],
    ['polygon', 1_000_000, 21, true, 'finalized'],
  ] as const)('default: %s, %d USD, %d confirmations: %s, by %s', (network, amount, deep, enough, needs) => {
    expect(at(network, usd(amount), deep)).toMatchObject({ enough, needs, confirmations: deep })
  })
})

test('behavior: what is waited for is also told as a number of confirmations', () => {
  expect(at('base', usd(10), 1).required).toBe(5)
  expect(at('base', usd(101), 1).required).toBe(11)
  expect(at('ethereum', usd(1001), 1).required).toBe(21)
})

test('behavior: earlier credits that are not safe yet count towards the limit for a few blocks', () => {
  expect(at('base', usd(40), 5, { notSafe: usd(60), notFinalized: usd(60) }).enough).toBe(true)
  expect(at('base', usd(40), 5, { notSafe: usd(60.000001), notFinalized: usd(61) })).toMatchObject({
    enough: false,
    needs: 'safe',
  })
})

test('behavior: earlier credits that are safe and not final count towards the limit for safe blocks', () => {
  expect(at('ethereum', usd(600), 11, { notSafe: 0n, notFinalized: usd(400) }).enough).toBe(true)
  expect(at('ethereum', usd(600), 11, { notSafe: 0n, notFinalized: usd(401) })).toMatchObject({
    enough: false,
    needs: 'finalized',
  })
})

test('behavior: nothing is credited on Polygon while it does not finalize, and it is said', () => {
  const stalled = { head: 1000, safe: 990, finalized: 935 }
  expect(at('polygon', usd(1), 500, none, stalled)).toMatchObject({ enough: false, stalled: true })
  expect(at('polygon', usd(1), 500, none, { ...stalled, finalized: 936 })).toMatchObject({
    enough: true,
    stalled: false,
  })
})

test('behavior: a deposit above the head, as a lagging node shows it, has no confirmation', () => {
  expect(at('base', usd(1), -3)).toMatchObject({ enough: false, confirmations: 0 })
})

test('behavior: more confirmations never take a credit away, more money never makes it come earlier', () => {
  const networks = fc.constantFrom('base', 'ethereum', 'polygon')
  fc.assert(
    fc.property(
      networks,
      fc.bigInt(1n, usd(3000)),
      fc.bigInt(0n, usd(3000)),
      fc.integer({ min: 0, max: 40 }),
      (network, amount, more, deep) => {
        const policy = confirmationPolicies[network]
        const credited = (money: bigint, confirmations: number) =>
          decideConfirmation(policy, { amount: money, block: 1001 - confirmations }, heights, none).enough
        if (credited(amount, deep)) expect(credited(amount, deep + 1)).toBe(true)
        if (credited(amount + more, deep)) expect(credited(amount, deep)).toBe(true)
      },
    ),
  )
})
