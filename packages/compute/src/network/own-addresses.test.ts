import { expect, test } from 'vitest'
import { addressesAt, areAddresses, changeAddresses } from './own-addresses.ts'

test('behavior: an address of its own is let through to the link of its machine alone', () => {
  const both = { ipv4: '198.18.0.7', ipv6: '2001:db8::7' }
  expect(changeAddresses('cr-a', [], both)).toBe(
    'add element inet coinrack_host addresses { 198.18.0.7 . "cr-a" }\n' +
      'add element inet coinrack_host addresses6 { 2001:db8::7 . "cr-a" }\n',
  )
  const elem = [{ concat: ['198.18.0.7', 'cr-a'] }, { concat: ['198.18.0.8', 'cr-b'] }]
  const listing = JSON.stringify({
    nftables: [{ metainfo: {} }, { set: { name: 'addresses', elem } }, { set: { name: 'addresses6' } }],
  })
  const present = addressesAt('cr-a', listing)
  expect(present).toEqual([{ set: 'addresses', address: '198.18.0.7' }])
  expect(changeAddresses('cr-a', present, { ipv4: '198.18.0.7' })).toBe('')
  expect(changeAddresses('cr-a', present, {})).toBe(
    'delete element inet coinrack_host addresses { 198.18.0.7 . "cr-a" }\n',
  )
})

test.each([
  [{}, true],
  [{ ipv4: '198.18.0.7', ipv6: '2001:db8::7' }, true],
  [{ ipv4: '198.18.0.7 }' }, false],
  [{ ipv4: '2001:db8::7' }, false],
  [{ ipv6: '198.18.0.7' }, false],
  [{ ipv6: 'fe80::1%eth0' }, false],
])('default: %j are addresses: %j', (addresses, expected) => {
  expect(areAddresses(addresses)).toBe(expected)
})
