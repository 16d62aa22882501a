import { expect, test } from 'vitest'
import { fitsPattern } from './fit-pattern.ts'

test.each<[string, string, boolean]>([
  ['a.txt', '*.txt', true],
  ['b/a.txt', '*.txt', false],
  ['b/a.txt', '**/*.txt', true],
  ['a.txt', '**/*.txt', true],
  ['a/b/c', 'a/**', true],
  ['a', 'a/**', true],
  ['ab', 'a?', true],
  ['a/b', 'a?b', false],
  ['a5', 'a[0-9]', true],
  ['ax', 'a[^0-9]', true],
  ['a*', 'a\\*', true],
  ['ab', 'a\\*', false],
  ['abcbd', 'a*b*d', true],
  ['abcb', 'a*b*d', false],
  ['{a,b}', '{a,b}', true],
  ['a', '{a,b}', false],
])('default: %j and %j: %j', (path, pattern, expected) => {
  expect(fitsPattern(path, pattern)).toBe(expected)
})

test('behavior: a hostile pattern takes no longer than any', () => {
  const begun = performance.now()
  expect(fitsPattern('a'.repeat(1000), `${'*a'.repeat(400)}b`)).toBe(false)
  expect(fitsPattern(Array(200).fill('a').join('/'), `${'**/'.repeat(100)}b`)).toBe(false)
  expect(performance.now() - begun).toBeLessThan(2_000)
})
