import { describe, expect, test } from 'vitest'
import { addressJudge } from './public-address.ts'

const isPublic = addressJudge([])

describe('addressJudge', () => {
  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '100.63.255.255',
    '172.32.0.1',
    '192.169.0.1',
    '2606:4700::1111',
    '2a00::1',
  ])('default: %s is a public host', (address) => {
    expect(isPublic(address)).toBe(true)
  })

  test.each([
    ['this network', '0.0.0.0'],
    ['private', '10.1.2.3'],
    ['private', '172.31.255.255'],
    ['private', '192.168.0.1'],
    ['of a carrier, and of our machines', '100.64.0.1'],
    ['loopback', '127.0.0.1'],
    ['loopback', '127.255.255.254'],
    ['link-local: metadata of clouds', '169.254.169.254'],
    ['for documentation', '203.0.113.9'],
    ['for benchmarks', '198.18.0.1'],
    ['multicast', '224.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['loopback', '::1'],
    ['unspecified', '::'],
    ['IPv4 inside', '::ffff:127.0.0.1'],
    ['IPv4 inside', '::ffff:8.8.8.8'],
    ['IPv4 inside', '64:ff9b::7f00:1'],
    ['6to4', '2002:7f00:1::'],
    ['Teredo', '2001:0:1::1'],
    ['link-local', 'fe80::1'],
    ['unique local', 'fd00:ec2::254'],
    ['multicast', 'ff02::1'],
    ['for documentation', '2001:db8::1'],
    ['no address', 'localhost'],
    ['no address', ''],
  ])('error: %s: %s', (_what, address) => {
    expect(isPublic(address)).toBe(false)
  })

  test('behavior: what the operator allows is allowed, and no more', () => {
    const judge = addressJudge(['127.0.0.1', '10.1.0.0/16', 'fd00::/8'])
    expect(['127.0.0.1', '10.1.255.1', 'fd00::1', '8.8.8.8'].map(judge)).toEqual([true, true, true, true])
    expect(['127.0.0.2', '10.2.0.1', 'fe80::1'].map(judge)).toEqual([false, false, false])
  })
})
