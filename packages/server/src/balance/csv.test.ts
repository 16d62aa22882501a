import { expect, test } from 'vitest'
import { csvOf } from './csv.ts'

test('default: names first, lines ended by CRLF', () => {
  expect(csvOf(['a', 'b'], [['1', '-2.00']])).toBe('a,b\r\n1,-2.00\r\n')
  expect(csvOf(['a'], [])).toBe('a\r\n')
})

test('behavior: what holds a comma, a quote or an end of line is quoted', () => {
  expect(csvOf(['a', 'b', 'c'], [['x,y', 'say "x"', 'two\nlines']])).toBe(
    'a,b,c\r\n"x,y","say ""x""","two\nlines"\r\n',
  )
})

test('behavior: text is no formula in a spreadsheet', () => {
  const texts = ['=1+1', '+1', '-1', '@x', '\tx', 'web']
  expect(
    csvOf(
      [],
      texts.map((text) => [{ text }]),
    ),
  ).toBe("\r\n'=1+1\r\n'+1\r\n'-1\r\n'@x\r\n'\tx\r\nweb\r\n")
})
