import { expect, test } from 'vitest'
import { BadWord, expandWord, splitWords } from './expand-word.ts'

const variables = { A: 'one', EMPTY: '', PATH: '/bin' }

test.each([
  ['plain', 'plain'],
  ['$A', 'one'],
  [`\${A}s`, 'ones'],
  ['$NONE.', '.'],
  ['/opt/bin:$PATH', '/opt/bin:/bin'],
  ['"$A two"', 'one two'],
  ["'$A two'", '$A two'],
  ['\\$A', '$A'],
  ['"a \\"b\\" \\$A"', 'a "b" $A'],
  ['a\\ b', 'a b'],
  [`\${NONE:-\${A}}`, 'one'],
  [`\${EMPTY:-x}`, 'x'],
  [`\${EMPTY-x}`, ''],
  [`\${A:+set}`, 'set'],
  [`\${EMPTY:+set}`, ''],
  [`\${NONE+set}`, ''],
  ['cost: 5$', 'cost: 5$'],
  ['__proto__ $constructor', '__proto__ '],
])('default: %s becomes %j', (word, expected) => {
  expect(expandWord(word, variables)).toBe(expected)
})

test.each(["'open", '"open', `\${A`, `\${A:-x`, `\${}`, `\${A!x}`])('error: %s', (word) => {
  expect(() => expandWord(word, variables)).toThrow(BadWord)
})

test.each<[string, string[]]>([
  [' a  b ', ['a', 'b']],
  [`A="x y" B='p q' C=a\\ b`, ['A="x y"', "B='p q'", 'C=a\\ b']],
  ['', []],
])('default: %j is split', (text, expected) => {
  expect(splitWords(text)).toEqual(expected)
})

test('behavior: another character escapes where the file says so', () => {
  expect(expandWord('C:\\x`$A', variables, '`')).toBe('C:\\x$A')
})
