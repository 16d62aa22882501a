import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Flag, formatUsd, PlainText, paging, parseUsd, Timestamp, Usd, UsdInput } from './wire.ts'

describe('parseUsd', () => {
  test.each([
    ['3', 3_000_000n],
    ['12.5', 12_500_000n],
    ['12.50', 12_500_000n],
    ['0.000001', 1n],
    ['0', 0n],
    ['007.10', 7_100_000n],
    ['999999999999.999999', 999_999_999_999_999_999n],
  ])('default: %s', (text, amount) => {
    expect(parseUsd(text)).toBe(amount)
  })

  test.each([
    '',
    ' 1',
    '1 ',
    '+1',
    '-1',
    '1.',
    '.5',
    '3,00',
    '1e3',
    '1_000',
    '0x10',
    '1.0000001',
    '1000000000000',
    'NaN',
    'Infinity',
    '١',
    '1\n',
  ])('error: refuses %j', (text) => {
    expect(parseUsd(text)).toBeUndefined()
  })
})

describe('formatUsd', () => {
  test.each([
    [0n, '0.00'],
    [1n, '0.000001'],
    [500_000n, '0.50'],
    [12_500_000n, '12.50'],
    [12_345_600n, '12.3456'],
    [-1n, '-0.000001'],
    [-3_000_000n, '-3.00'],
  ])('default: %s', (amount, text) => {
    expect(formatUsd(amount)).toBe(text)
  })

  test('behavior: what was formatted is parsed to the same amount', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }), (amount) => {
        const text = formatUsd(amount)
        expect(text).toMatch(/^\d+\.\d{2,6}$/)
        expect(parseUsd(text)).toBe(amount)
      }),
    )
  })

  test('behavior: money on the wire survives both ways, below zero too', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 18n) + 1n, max: 10n ** 18n - 1n }), (amount) => {
        expect(z.decode(Usd, z.encode(Usd, amount))).toBe(amount)
      }),
    )
  })

  test('behavior: order is kept', () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 15n })
    fc.assert(
      fc.property(amount, amount, (a, b) => {
        expect(parseUsd(formatUsd(a))! < parseUsd(formatUsd(b))!).toBe(a < b)
      }),
    )
  })
})

describe('UsdInput', () => {
  const read = (value: unknown) => UsdInput.safeDecode(value as never)

  test.each([
    [3, 3_000_000n],
    [2.99, 2_990_000n],
    ['2.99', 2_990_000n],
    [0.1, 100_000n],
    [0.000001, 1n],
    [10_000, 10_000_000_000n],
  ])('default: %j', (value, amount) => {
    expect(read(value)).toEqual({ success: true, data: amount })
  })

  test.each([
    -1,
    0.1 + 0.2,
    1e-7,
    1e21,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    JSON.parse('1e400'),
    '3,00',
    '1e2',
    '1.1234567',
    '9'.repeat(21),
    '',
    null,
    true,
    [3],
    { amount: 3 },
  ])('error: refuses %j', (value) => {
    expect(read(value).success).toBe(false)
  })

  test('behavior: every amount that a JSON number can write with 6 decimals is read exactly', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000_000_000 }), (micro) => {
        expect(read(JSON.parse(formatUsd(BigInt(micro)))).data).toBe(BigInt(micro))
      }),
    )
  })
})

describe('paging', () => {
  const page = z.strictObject(paging)
  test('default: 50', () => {
    expect(page.parse({})).toEqual({ limit: 50 })
  })
  test.each(['0', '101', '-1', '1.5', 'all'])('error: a limit of %s', (limit) => {
    expect(page.safeParse({ limit }).success).toBe(false)
  })
})

test.each([
  ['true', true],
  ['false', false],
  [false, false],
])('default: a flag of %j', (text, value) => {
  expect(Flag.parse(text)).toBe(value)
})

test('default: time is RFC 3339 in UTC', () => {
  const date = new Date('2026-02-28T23:59:59.000Z')
  expect(z.encode(Timestamp, date)).toBe('2026-02-28T23:59:59.000Z')
})

test.each(['line\nbreak', 'tab\there', 'nul\u0000', 'delete\u007f', 'many characters '.repeat(7)])(
  'error: text of a person is not %j',
  (text) => {
    expect(PlainText(100).safeParse(text).success).toBe(false)
  },
)
