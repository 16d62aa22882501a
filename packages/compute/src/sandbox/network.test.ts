import { expect, test } from 'vitest'
import { closedNetwork, openNetwork } from '../ports/sandbox-network.ts'
import { namesAndPolicyOf } from './network.ts'

test('default: nothing, or everything that the operator allows', () => {
  expect(namesAndPolicyOf(closedNetwork).policy.firewall).toEqual({
    defaultIn: 'deny',
    defaultOut: 'deny',
    rules: [],
  })
  expect(namesAndPolicyOf(openNetwork).policy.firewall).toEqual({
    defaultIn: 'deny',
    defaultOut: 'allow',
    rules: [],
  })
})

test('behavior: what is allowed comes before what is denied', () => {
  const { rules } = namesAndPolicyOf({
    allowInternet: true,
    allowOut: ['198.51.100.7'],
    denyOut: ['198.51.100.0/24'],
  }).policy.firewall
  expect(rules.map(({ action, cidr }) => `${action} ${cidr}`)).toEqual([
    'allow 198.51.100.7',
    'deny 198.51.100.0/24',
  ])
})

test('behavior: names are for a resolver, and networks for the firewall', () => {
  const { policy, names } = namesAndPolicyOf({
    allowInternet: false,
    allowOut: ['*.example.com', '198.51.100.7'],
    denyOut: ['a.example.com'],
  })
  expect(policy.firewall.rules).toHaveLength(1)
  expect(names).toEqual({ allow: ['*.example.com'], deny: ['a.example.com'], isOpen: false })
})

test.each([
  ['nothing by name', openNetwork, false],
  ['a name is denied', { ...openNetwork, denyOut: ['example.com'] }, true],
  ['a name is allowed where nothing is denied', { ...openNetwork, allowOut: ['example.com'] }, false],
  ['a name is kept from what is denied', { ...openNetwork, allowOut: ['a.b'], denyOut: ['0.0.0.0/0'] }, true],
  ['a name is denied where all is', { ...closedNetwork, denyOut: ['example.com'] }, false],
])('behavior: a resolver only where it makes a difference: %s', (_what, network, isNeeded) => {
  expect(namesAndPolicyOf(network).names !== undefined).toBe(isNeeded)
})

test('error: text that is neither', () => {
  const text = { ...closedNetwork, allowOut: ['1.2.3.4 accept'] }
  expect(() => namesAndPolicyOf(text)).toThrow(expect.objectContaining({ code: 'spec_invalid' }))
})
