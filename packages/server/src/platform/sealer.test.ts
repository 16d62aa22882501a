import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSealer } from './sealer.ts'

const random = { bytes: (length: number) => randomBytes(length) }
const sealer = createSealer('a secret of the server', random)

test('default: what was sealed is opened again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, context) => {
      expect(sealer.open(sealer.seal(text, context), context)).toBe(text)
    }),
  )
})

test('behavior: the same text twice is sealed to other bytes, in which it is not', () => {
  const text = 'correct horse battery'
  const [one, two] = [sealer.seal(text, 'x'), sealer.seal(text, 'x')]
  expect(one.equals(two)).toBe(false)
  expect(one.includes(text)).toBe(false)
})

test('behavior: a process that knows the secret opens it, another does not', () => {
  const sealed = sealer.seal('text', 'x')
  expect(createSealer('a secret of the server', random).open(sealed, 'x')).toBe('text')
  expect(() => createSealer('another secret', random).open(sealed, 'x')).toThrow()
})

test('error: opened as something else than it is', () => {
  const sealed = sealer.seal('text', 'root-password:vps_1')
  expect(() => sealer.open(sealed, 'root-password:vps_2')).toThrow()
})

test('error: a changed bit, wherever it is', () => {
  const sealed = sealer.seal('text', 'x')
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const changed = Buffer.from(sealed)
    changed[bit >> 3]! ^= 1 << (bit & 7)
    expect(() => sealer.open(changed, 'x')).toThrow()
  }
})

test.each([0, 1, 12, 27])('error: %i bytes are too few', (length) => {
  expect(() => sealer.open(Buffer.alloc(length), 'x')).toThrow()
})
