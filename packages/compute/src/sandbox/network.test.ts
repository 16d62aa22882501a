import { expect, test } from 'vitest'
import { closedNetwork, openNetwork } from '../sandbox-network.ts'
import { policyOf } from './network.ts'

test('default: nothing, or everything that the operator allows', () => {
  expect(policyOf(closedNetwork).firewall).toEqual({ defaultIn: 'deny', defaultOut: 'deny', rules: [] })
  expect(policyOf(openNetwork).firewall).toEqual({ defaultIn: 'deny', defaultOut: 'allow', rules: [] })
})

test('behavior: what is allowed comes before what is denied', () => {
  const { rules } = policyOf({
    allowInternet: true,
    allowOut: ['198.51.100.7'],
    denyOut: ['198.51.100.0/24'],
  }).firewall
  expect(rules.map(({ action, cidr }) => `${action} ${cidr}`)).toEqual([
    'allow 198.51.100.7',
    'deny 198.51.100.0/24',
  ])
})

test('error: names are no rules of a firewall, and text is neither', () => {
  const named = { allowInternet: false, allowOut: ['*.example.com'], denyOut: [] }
  expect(() => policyOf(named)).toThrow(expect.objectContaining({ code: 'unsupported' }))
  const text = { ...named, allowOut: ['1.2.3.4 accept'] }
  expect(() => policyOf(text)).toThrow(expect.objectContaining({ code: 'spec_invalid' }))
})
