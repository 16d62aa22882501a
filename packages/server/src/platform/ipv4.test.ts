import { expect, test } from 'vitest'
import { addressesIn, ipv4Number, ipv4Text, rangeSize } from './ipv4.ts'

test.each(['0.0.0.0', '10.0.2.15', '198.51.100.7', '255.255.255.255'])(
  'default: %s there and back',
  (address) => {
    expect(ipv4Text(ipv4Number(address))).toBe(address)
  },
)

test('default: both ends of a range, over the end of an octet', () => {
  const range = { from: '198.51.100.254', to: '198.51.101.1' }
  expect(rangeSize(range)).toBe(4)
  expect(addressesIn([range, { from: '192.0.2.9', to: '192.0.2.9' }])).toEqual([
    '198.51.100.254',
    '198.51.100.255',
    '198.51.101.0',
    '198.51.101.1',
    '192.0.2.9',
  ])
})
