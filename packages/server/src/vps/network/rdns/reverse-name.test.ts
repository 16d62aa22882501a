import { expect, test } from 'vitest'
import { reverseName } from './reverse-name.ts'

test.each([
  ['198.18.0.7', '7.0.18.198.in-addr.arpa.'],
  ['2001:db8::107', '7.0.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.'],
])('default: %s', (address, name) => {
  expect(reverseName(address)).toBe(name)
})
