import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fittingBytes, jsonBytes, textOf, wholeBytes } from './text-bytes.ts'

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

test('default: a text is cut to the bytes that it takes in JSON, between characters', () => {
  expect(fittingBytes(Buffer.from('abc'), 3)).toBe(3)
  expect(fittingBytes(Buffer.from('abc'), 2)).toBe(2)
  expect(fittingBytes(Buffer.from('a\u0000\u0000'), 8)).toBe(2)
  expect(fittingBytes(Buffer.from('aää'), 4)).toBe(3)
  expect(fittingBytes(Buffer.from('abc'), -1)).toBe(0)
})

test('behavior: whatever the bytes are, the text fits, and a character more would not', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.integer({ min: 0, max: 400 }), (bytes, most) => {
      const fits = fittingBytes(bytes, most)
      expect(jsonBytes(textOf(bytes.subarray(0, fits))) - 2).toBeLessThanOrEqual(most)
      if (fits < bytes.length) {
        const next = bytes.subarray(0, Math.min(bytes.length, fits + 4))
        expect(jsonBytes(textOf(next)) - 2 + 12).toBeGreaterThan(most)
      }
    }),
  )
})
