import { expect, test } from 'vitest'
import { parseResolvers } from './host-resolvers.ts'

test('default: the servers in their order', () => {
  expect(parseResolvers('# comment\nsearch lan\nnameserver 192.0.2.53\nnameserver\t198.51.100.1\n')).toEqual([
    '192.0.2.53',
    '198.51.100.1',
  ])
})

test('behavior: those that a guest cannot ask are left out', () => {
  expect(parseResolvers('nameserver 127.0.0.53\nnameserver fd00::1\n#nameserver 192.0.2.1')).toEqual([])
})
