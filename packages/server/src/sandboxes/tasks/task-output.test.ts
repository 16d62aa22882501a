import fc from 'fast-check'
import { expect, test } from 'vitest'
import { textOf, wholeBytes } from './task-output.ts'

test.each([
  ['', 0],
  ['abc', 3],
  ['aä', 3],
])('default: all of %j is whole', (text, bytes) => {
  expect(wholeBytes(Buffer.from(text))).toBe(bytes)
})

test('behavior: the beginning of a character waits for its end', () => {
  const bytes = Buffer.from('a😀')
  for (const cut of [1, 2, 3]) expect(wholeBytes(bytes.subarray(0, 1 + cut))).toBe(1)
  expect(wholeBytes(bytes)).toBe(5)
})

test('behavior: bytes that are no text do not wait', () => {
  expect(wholeBytes(Buffer.from([0x61, 0x80, 0x80, 0x80, 0x80]))).toBe(5)
})

test('behavior: however it is cut, a text that is read piece by piece is the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.array(fc.integer({ min: 1, max: 5 })), (text, cuts) => {
      const all = Buffer.from(text)
      let [at, read] = [0, '']
      for (const cut of [...cuts, all.length + 4]) {
        const part = all.subarray(at, at + Math.max(cut, 4))
        const whole = wholeBytes(part)
        read += textOf(part.subarray(0, whole))
        at += whole
      }
      expect(read).toBe(text)
    }),
  )
})
