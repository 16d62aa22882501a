import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isToken, makeE2bToken, makeToken } from './token.ts'

const random = { bytes: (length: number) => randomBytes(length) }

test('default: `crk_` and 46 letters and digits, each time others', () => {
  const tokens = Array.from({ length: 200 }, () => makeToken(random))
  expect(tokens.every((token) => /^crk_[0-9A-Za-z]{46}$/.test(token))).toBe(true)
  expect(tokens.every(isToken)).toBe(true)
  expect(new Set(tokens).size).toBe(200)
})

test("default: in the form of E2B's keys, `e2b_` and 40 hexadecimal digits", () => {
  const tokens = Array.from({ length: 200 }, () => makeE2bToken(random))
  expect(tokens.every((token) => /^e2b_[0-9a-f]{40}$/.test(token))).toBe(true)
  expect(tokens.every(isToken)).toBe(true)
  expect(new Set(tokens).size).toBe(200)
})

test('behavior: bytes that would make some characters likelier are drawn again', () => {
  let draws = 0
  const biased = { bytes: (length: number) => new Uint8Array(length).fill(draws++ === 0 ? 255 : 61) }
  expect(makeToken(biased).slice(4, 44)).toBe('z'.repeat(40))
  expect(draws).toBe(2)
})

test('behavior: one mistyped character is noticed, wherever it is', () => {
  const token = makeToken(random)
  const position = fc.integer({ min: 4, max: token.length - 1 })
  const character = fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')
  fc.assert(
    fc.property(position, character, (index, other) => {
      fc.pre(token[index] !== other)
      expect(isToken(token.slice(0, index) + other + token.slice(index + 1))).toBe(false)
    }),
  )
})

test.each([
  ['nothing', () => ''],
  ['the prefix alone', () => 'crk_'],
  ['no prefix', () => makeToken(random).slice(4)],
  ['another prefix', () => `sk_${makeToken(random).slice(3)}`],
  ['one character less', () => makeToken(random).slice(0, -1)],
  ['one character more', () => `${makeToken(random)}0`],
  ['a line break after it', () => `${makeToken(random)}\n`],
  ["a key of E2B's in capitals", () => makeE2bToken(random).toUpperCase()],
  ["a key of E2B's with a line break after it", () => `${makeE2bToken(random)}\n`],
  ['a random tail', () => `crk_${'0'.repeat(46)}`],
])('error: %s is no token', (_what, make) => {
  expect(isToken(make())).toBe(false)
})
