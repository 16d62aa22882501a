import { expect, test } from 'vitest'
import { forgetOthers } from './name-rules.ts'

const listing = (name: string, elem: unknown[]) =>
  JSON.stringify({ nftables: [{ metainfo: {} }, { set: { name, table: 'coinrack', elem } }, { chain: {} }] })
const element = (val: string, comment: string) => ({ elem: { val, timeout: 3600, expires: 9, comment } })
const long = `${'a'.repeat(63)}.${'b'.repeat(63)}.example.com`

test('default: addresses of entries that are gone from their list go, all others stay', () => {
  const elements = [element('198.51.100.1', 'a.example'), element('198.51.100.2', '*.b.example')]
  const text = listing('allowed_names', elements)
  const names = { allow: ['a.example'], deny: ['*.b.example'], isOpen: false }
  expect(forgetOthers(text, 'coinrack', names).split('\n')).toEqual([
    'add element inet coinrack allowed_names { 198.51.100.2 }',
    'delete element inet coinrack allowed_names { 198.51.100.2 }',
    '',
  ])
  expect(forgetOthers(listing('denied_names', elements), 'coinrack', names)).toContain('{ 198.51.100.1 }')
})

test('default: of IPv6 too', () => {
  const elements = [element('2001:db8::1', 'a.example'), element('2001:db8::2', '*.b.example')]
  const names = { allow: ['a.example'], deny: ['*.b.example'], isOpen: false }
  const add = 'add element inet coinrack'
  expect(forgetOthers(listing('allowed_names6', elements), 'coinrack', names)).toContain(
    `${add} allowed_names6 { 2001:db8::2 }`,
  )
  expect(forgetOthers(listing('denied_names6', elements), 'coinrack', names)).toContain(
    `${add} denied_names6 { 2001:db8::1 }`,
  )
})

test('behavior: of a long name the end is known', () => {
  const text = listing('allowed_names', [element('198.51.100.1', long.slice(-120))])
  expect(forgetOthers(text, 'coinrack', { allow: [long], deny: [], isOpen: false })).toBe('')
})

test('behavior: whatever has no entry goes, and other sets are left alone', () => {
  const names = { allow: ['a.example'], deny: [], isOpen: true }
  expect(forgetOthers(listing('allowed_names', ['198.51.100.1']), 'coinrack', names)).toContain('delete')
  expect(forgetOthers(listing('other', ['198.51.100.1']), 'coinrack', names)).toBe('')
  expect(forgetOthers('{"nftables":[]}', 'coinrack', names)).toBe('')
})
