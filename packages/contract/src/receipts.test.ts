import { expect, test } from 'vitest'
import { canonicalJson } from './receipts.ts'

test('default: members sorted by their UTF-16 units, at every depth, without white space', () => {
  // The example of RFC 8785, section 3.2.3.
  const names = {
    '\u20ac': 'Euro Sign',
    '\r': 'Carriage Return',
    '\ufb33': 'Hebrew Letter Dalet With Dagesh',
    '1': 'One',
    '\ud83d\ude00': 'Emoji: Grinning Face',
    '\u0080': 'Control',
    '\u00f6': 'Latin Small Letter O With Diaeresis',
  }
  expect(canonicalJson(names)).toBe(
    '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","😀":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
  )
  expect(canonicalJson({ b: [3, { d: null, c: true }], a: '"' })).toBe(
    '{"a":"\\"","b":[3,{"c":true,"d":null}]}',
  )
})
