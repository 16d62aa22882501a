import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type IdKind, idPrefixes, isId, makeId } from './ids.ts'

const kinds = Object.keys(idPrefixes) as IdKind[]
const anyTime = fc.integer({ min: 0, max: 2 ** 47 })
const anyBytes = fc.uint8Array({ minLength: 10, maxLength: 10 })

test('default: prefix and 26 characters of Crockford base32', () => {
  expect(makeId('account', 0, new Uint8Array(10))).toBe(`acc_${'0'.repeat(26)}`)
  // The largest ULID, see its specification.
  expect(makeId('order', 2 ** 48 - 1, new Uint8Array(10).fill(255))).toBe(`ord_7${'z'.repeat(25)}`)
})

test('default: agrees with the example time of the ULID specification', () => {
  expect(makeId('service', 1_469_918_176_385, new Uint8Array(10)).slice(0, 14)).toBe('vps_01aryz6s41')
})

test.each(kinds)('behavior: what is made for %s is recognised, for that kind alone', (kind) => {
  const id = makeId(kind, 1_700_000_000_000, randomBytes(10))
  expect(kinds.filter((other) => isId(other, id))).toEqual([kind])
})

test('behavior: identifiers sort by the time they were made', () => {
  fc.assert(
    fc.property(anyTime, anyTime, anyBytes, anyBytes, (earlier, later, a, b) => {
      fc.pre(earlier < later)
      expect(makeId('order', earlier, a) < makeId('order', later, b)).toBe(true)
    }),
  )
})

test('behavior: other random bytes make another identifier', () => {
  fc.assert(
    fc.property(anyTime, anyBytes, anyBytes, (time, a, b) => {
      fc.pre(Buffer.compare(a, b) !== 0)
      expect(makeId('order', time, a)).not.toBe(makeId('order', time, b))
    }),
  )
})

test('behavior: prefixes are distinct, and short', () => {
  expect(new Set(Object.values(idPrefixes)).size).toBe(kinds.length)
  expect(Object.values(idPrefixes).every((prefix) => /^[a-z]{2,3}$/.test(prefix))).toBe(true)
})

test.each([
  '',
  'vps_',
  'vps',
  `vps_${'0'.repeat(25)}`,
  `vps_${'0'.repeat(27)}`,
  `VPS_${'0'.repeat(26)}`,
  `vps_${'0'.repeat(25)}O`,
  `vps_${'0'.repeat(25)}i`,
  `vps_${'0'.repeat(25)}\n`,
  `vps-${'0'.repeat(26)}`,
  `vps_${'0'.repeat(20)}' or 1`,
])('error: %j is no identifier', (text) => {
  expect(isId('service', text)).toBe(false)
})
