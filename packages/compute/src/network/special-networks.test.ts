import { BlockList, isIPv4 } from 'node:net'
import { expect, test } from 'vitest'
import { defaultEgress } from './machine-ruleset.ts'
import { GLOBAL_UNICAST } from './special-networks.ts'

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6')
const listOf = (networks: string[]) => {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', length] = network.split('/')
    list.addSubnet(address, Number(length), familyOf(address))
  }
  return list
}
const blocked = listOf(defaultEgress.blockedNetworks)
const unicast = listOf([GLOBAL_UNICAST])
const isReached = (address: string) =>
  !blocked.check(address, familyOf(address)) && (isIPv4(address) || unicast.check(address, 'ipv6'))

/** The first and the last address of every row of both registries. */
test.each([
  ['"this network"', '0.0.0.0', '0.255.255.255'],
  ['private', '10.0.0.0', '10.255.255.255'],
  ['shared address space', '100.64.0.0', '100.127.255.255'],
  ['loopback', '127.0.0.0', '127.255.255.255'],
  ['link-local', '169.254.0.0', '169.254.255.255'],
  ['private', '172.16.0.0', '172.31.255.255'],
  ['protocol assignments', '192.0.0.0', '192.0.0.255'],
  ['TEST-NET-1', '192.0.2.0', '192.0.2.255'],
  ['AS112', '192.31.196.0', '192.31.196.255'],
  ['AMT', '192.52.193.0', '192.52.193.255'],
  ['relays of 6to4', '192.88.99.0', '192.88.99.255'],
  ['private', '192.168.0.0', '192.168.255.255'],
  ['direct delegation of AS112', '192.175.48.0', '192.175.48.255'],
  ['benchmarks', '198.18.0.0', '198.19.255.255'],
  ['TEST-NET-2', '198.51.100.0', '198.51.100.255'],
  ['TEST-NET-3', '203.0.113.0', '203.0.113.255'],
  ['multicast', '224.0.0.0', '239.255.255.255'],
  ['reserved, and limited broadcast', '240.0.0.0', '255.255.255.255'],
  ['unspecified and loopback', '::', '::1'],
  ['compatible with IPv4', '::10.0.0.1', '::169.254.169.254'],
  ['mapped from IPv4', '::ffff:0.0.0.0', '::ffff:255.255.255.255'],
  ['NAT64', '64:ff9b::', '64:ff9b::ffff:ffff'],
  ['local NAT64', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ['discard-only', '100::', '100::ffff:ffff:ffff:ffff'],
  ['dummy prefix', '100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff'],
  ['protocol assignments', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['Teredo', '2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['anycast of PCP, TURN and SRP', '2001:1::1', '2001:1::3'],
  ['benchmarks', '2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff'],
  ['AMT', '2001:3::', '2001:3:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['AS112', '2001:4:112::', '2001:4:112:ffff:ffff:ffff:ffff:ffff'],
  ['ORCHID', '2001:10::', '2001:1f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['ORCHIDv2', '2001:20::', '2001:2f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['drone remote identification', '2001:30::', '2001:3f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['documentation', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['6to4', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['6to4 of a private address', '2002:a00:1::1', '2002:a9fe:a9fe::1'],
  ['direct delegation of AS112', '2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff'],
  ['documentation', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['segment routing', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['unique local', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['link-local', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['multicast', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
])('error: a machine reaches nothing of %s, %s to %s', (_use, first, last) => {
  expect([first, last].filter(isReached)).toEqual([])
})

test('default: the addresses beside them are reached', () => {
  const besides = [
    ...['1.1.1.1', '9.255.255.255', '100.63.255.255', '100.128.0.0', '172.32.0.0', '192.0.1.0', '192.0.3.0'],
    ...['192.88.98.255', '192.169.0.0', '198.17.255.255', '198.20.0.0', '198.51.101.0', '203.0.114.0'],
    ...['2001:200::', '2001:db9::', '2003::', '2606:4700::1111', '2620:4f:8001::', '2a00::1', '3ffe::'],
  ]
  expect(besides.filter((address) => !isReached(address))).toEqual([])
})
