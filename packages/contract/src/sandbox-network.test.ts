import { expect, test } from 'vitest'
import { NetworkInput, parseEntry } from './sandbox-network.ts'

test.each([
  ['example.com', 'example.com'],
  ['*.example.com', '*.example.com'],
  ['Example.COM.', 'example.com'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['*.BÜCHER.example', '*.xn--bcher-kva.example'],
  ['例え.テスト', 'xn--r8jz45g.xn--zckzah'],
  ['198.51.100.7', '198.51.100.7'],
  ['198.51.100.0/24', '198.51.100.0/24'],
  ['2001:DB8::/32', '2001:db8::/32'],
])('default: %s is %s', (text, entry) => {
  expect(parseEntry(text)).toBe(entry)
})

test.each([
  'not a name',
  'localhost',
  '*',
  '*.com',
  'a.*.example.com',
  '*.*.example.com',
  'https://example.com',
  'example.com/path',
  'example.com:443',
  'user@example.com',
  '-a.example.com',
  'a_b.example.com',
  'a..example.com',
  `${'a'.repeat(64)}.example.com`,
  `${'a.'.repeat(127)}example.com`,
  '0x7f.1',
  '127.1',
  '010.0.0.1',
  '198.51.100.0/33',
  'example.com } accept',
  'exa%6dple.com',
  '.',
])('error: %j is neither', (text) => {
  expect(parseEntry(text)).toBeUndefined()
})

test('error: it says which entry, and what was expected', () => {
  const [issue] = NetworkInput.safeParse({ allow_out: ['a.example', 'http://b.example'] }).error!.issues
  expect(issue!.path).toEqual(['allow_out', 1])
  expect(issue!.message).toContain('no URL, port or path')
  const many = Array.from({ length: 101 }, (_, index) => `a${index}.example`)
  expect(NetworkInput.safeParse({ deny_out: many }).error!.issues[0]!.message).toContain('at most 100')
})
