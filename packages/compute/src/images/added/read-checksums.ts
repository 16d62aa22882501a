import { ImageRefusedError } from './added-image.ts'

export interface Digest {
  algorithm: 'sha256' | 'sha512'
  hex: string
}

const GNU = /^\\?([0-9a-f]+) [ *](.+)$/i
const BSD = /^([A-Z0-9-]+) ?\((.+)\) ?= ?([0-9a-f]+)$/i
const BARE = /^[0-9a-f]+$/i

/** By the number of hexadecimal digits: what a list calls its algorithm is not needed. */
const algorithms: Record<number, Digest['algorithm']> = { 64: 'sha256', 128: 'sha512' }

/**
 * The digest of one file in the text of a list: lines of `sha256sum`, of BSD's `sha256`, or one digest alone, which
 * then belongs to the only file it can. Of several digests of the file the strongest counts.
 * @throws ImageRefusedError when there is none, none that is strong enough, or two that differ
 */
export function digestOf(text: string, fileName: string): Digest {
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
  const alone = lines.length === 1 && BARE.test(lines[0]!) ? lines[0] : undefined
  const found = alone ? [alone] : lines.flatMap((line) => hexOf(line, fileName) ?? [])
  if (found.length === 0) throw new ImageRefusedError(`The list of checksums does not name ${fileName}`)

  const digests = found.flatMap((hex) => {
    const algorithm = algorithms[hex.length]
    return algorithm ? [{ algorithm, hex: hex.toLowerCase() }] : []
  })
  const strongest = digests.sort((a, b) => b.hex.length - a.hex.length)[0]
  if (!strongest)
    throw new ImageRefusedError(
      `The checksum of ${fileName} is neither SHA-256 nor SHA-512: it proves nothing`,
    )
  if (digests.some(({ algorithm, hex }) => algorithm === strongest.algorithm && hex !== strongest.hex))
    throw new ImageRefusedError(`The list of checksums has two different ones of ${fileName}`)
  return strongest
}

function hexOf(line: string, fileName: string): string | undefined {
  const gnu = GNU.exec(line)
  if (gnu) return isNamed(gnu[2]!, fileName) ? gnu[1] : undefined
  const bsd = BSD.exec(line)
  return bsd && isNamed(bsd[2]!, fileName) ? bsd[3] : undefined
}

/** Lists are often made from above the folder of the files. */
const isNamed = (written: string, fileName: string) => written.split('/').at(-1) === fileName
