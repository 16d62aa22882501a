import { expect, test } from 'vitest'
import { HIGHEST_SLOT, linkAddresses, linkName, namespaceName } from './addresses.ts'

test('default: both ends of a link', () => {
  expect(linkAddresses(1)).toEqual({ host: '100.96.0.5', machine: '100.96.0.6' })
  expect(linkAddresses(HIGHEST_SLOT)).toEqual({ host: '100.96.255.253', machine: '100.96.255.254' })
})

test('behavior: no two links share an address', () => {
  const all = Array.from({ length: 1_000 }, (_, slot) => linkAddresses(slot + 1))
  expect(new Set(all.flatMap(({ host, machine }) => [host, machine])).size).toBe(2_000)
})

test('behavior: the name of a link is as long as the kernel takes, and made from what is random in the id', () => {
  const id = 'vps_01kabcdefghjkmnpqrstvwxyz0'
  expect(linkName(id)).toBe('cr-npqrstvwxyz0')
  expect(linkName(id)).toHaveLength(15)
  expect(namespaceName(id)).toBe(`coinrack-${id}`)
})
