import { expect, test } from 'vitest'
import { ipv6Digits, isFirstOf } from './ipv6.ts'

test.each([
  ['::', '0'.repeat(32)],
  ['::1', `${'0'.repeat(31)}1`],
  ['2001:DB8::100', '20010db8000000000000000000000100'],
  ['2001:db8:1:2:3:4:5:6', '20010db8000100020003000400050006'],
  ['2001:db8:1:2:3:4:5::', '20010db8000100020003000400050000'],
])('default: the digits of %s', (address, digits) => {
  expect(ipv6Digits(address)).toBe(digits)
})

test.each([
  ['2001:db8::', 32, true],
  ['2001:db8:1::', 32, false],
  ['2001:db8:1:2::', 64, true],
  ['2001:db8:1:2::1', 64, false],
  ['2001:db8::1', 128, true],
])('default: %s is the first of its /%i: %j', (address, length, expected) => {
  expect(isFirstOf(address, length)).toBe(expected)
})
