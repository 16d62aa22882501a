import { expect, test } from 'vitest'
import { digestOf } from './read-checksums.ts'

const a256 = 'a'.repeat(64)
const b256 = 'b'.repeat(64)
const c512 = 'c'.repeat(128)

test.each([
  ['sha256sum', `${a256}  disk.img\n${b256}  other.img\n`],
  ['sha256sum of a binary file', `${b256} *other.img\n${a256} *disk.img\n`],
  ['lines that end as in Windows', `${a256}  disk.img\r\n`],
  ['a file in a folder', `${a256}  ./images/disk.img\n`],
  ['a list with remarks', `# disk.img: 1024 bytes\n${a256}  disk.img\n`],
  ["BSD's sha256", `SHA256 (other.img) = ${b256}\nSHA256 (disk.img) = ${a256}\n`],
  ['one digest alone', `${a256}\n`],
  ['capital letters', `${a256.toUpperCase()}  disk.img\n`],
])('default: %s', (_kind, text) => {
  expect(digestOf(text, 'disk.img')).toEqual({ algorithm: 'sha256', hex: a256 })
})

test('behavior: of several digests the strongest counts', () => {
  const text = `MD5 (disk.img) = ${'d'.repeat(32)}\nSHA512 (disk.img) = ${c512}\nSHA256 (disk.img) = ${a256}\n`
  expect(digestOf(text, 'disk.img')).toEqual({ algorithm: 'sha512', hex: c512 })
})

test.each([
  ['another file', `${a256}  disk.img.old\n`, /does not name disk.img/],
  ['nothing', '', /does not name disk.img/],
  ['a page instead of a list', '<html>disk.img</html>', /does not name disk.img/],
  ['SHA-1', `${'a'.repeat(40)}  disk.img\n`, /proves nothing/],
  ['two that differ', `${a256}  disk.img\n${b256}  disk.img\n`, /two different ones/],
  ['two folders', `${a256}  x86_64/disk.img\n${b256}  aarch64/disk.img\n`, /two different ones/],
  ['several digests without names', `${a256}\n${b256}\n`, /does not name disk.img/],
])('error: a list with %s', (_kind, text, message) => {
  expect(() => digestOf(text, 'disk.img')).toThrow(message)
})
