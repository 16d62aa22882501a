import { describe, expect, test } from 'vitest'
import { checkPolicy, type FirewallRule, isNetwork, openPolicy, parsePorts } from './network-policy.ts'

test.each([
  ['443', { from: 443, to: 443 }],
  ['8000-8100', { from: 8000, to: 8100 }],
  ['0', undefined],
  ['65536', undefined],
  ['90-80', undefined],
  ['80,81', undefined],
  ['80 } accept', undefined],
  ['', undefined],
])('default: ports %j', (text, expected) => {
  expect(parsePorts(text)).toEqual(expected)
})

test.each([
  ['203.0.113.0/24', true],
  ['203.0.113.7', true],
  ['0.0.0.0/0', true],
  ['203.0.113.0/33', false],
  ['203.0.113', false],
  ['2001:db8::/32', true],
  ['2001:db8::1', true],
  ['2001:db8::/129', false],
  ['fe80::1%eth0', false],
  ['::ffff:10.0.0.1', false],
  ['203.0.113.0/24 accept', false],
])('default: network %j: %j', (text, expected) => {
  expect(isNetwork(text)).toBe(expected)
})

describe('a policy', () => {
  const rule: FirewallRule = {
    action: 'deny',
    direction: 'in',
    protocol: 'tcp',
    ports: ['22'],
    cidr: '203.0.113.7',
  }
  const withRule = (change: object) => ({
    ports: [],
    firewall: { ...openPolicy.firewall, rules: [{ ...rule, ...change } as FirewallRule] },
  })

  test('default: one that holds', () => {
    expect(() => checkPolicy(openPolicy)).not.toThrow()
    expect(() => checkPolicy(withRule({}))).not.toThrow()
  })

  test.each([
    [{ action: 'accept' }],
    [{ direction: 'forward' }],
    [{ protocol: 'sctp' }],
    [{ ports: ['22; accept'] }],
    [{ cidr: '0.0.0.0/0 accept' }],
    [{ protocol: 'icmp' }],
  ])('error: a rule with %j', (change) => {
    expect(() => checkPolicy(withRule(change))).toThrow(expect.objectContaining({ code: 'spec_invalid' }))
  })

  test.each([
    [{ protocol: 'icmp', port: 1, publicPort: 22_000 }],
    [{ protocol: 'tcp', port: 0, publicPort: 22_000 }],
    [{ protocol: 'tcp', port: 1.5, publicPort: 22_000 }],
    [{ protocol: 'tcp', port: 1, publicPort: 65_536 }],
  ])('error: the open port %j', (port) => {
    expect(() => checkPolicy({ ...openPolicy, ports: [port as never] })).toThrow()
  })
})
