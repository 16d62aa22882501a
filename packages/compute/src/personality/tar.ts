export interface TarEntry {
  /** Relative to the root; a folder's ends in a slash. At most 99 bytes. */
  path: string
  mode: number
  content?: string | Buffer
}

const BLOCK = 512

/**
 * A tar archive (POSIX ustar) of the entries, owned by root and dated `mtime`, padded with zeros to a multiple of
 * `size` bytes. https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html, "ustar Interchange Format"
 */
export function makeTar(entries: TarEntry[], { mtime, size }: { mtime: Date; size: number }): Buffer {
  const parts = entries.flatMap((entry) => {
    const content = Buffer.from((entry.content ?? '') as string)
    return [tarHeader(entry, content.length, mtime), content, zeros(content.length, BLOCK)]
  })
  const archive = Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)])
  return Buffer.concat([archive, zeros(archive.length, size)])
}

/** The block before the content of an entry, `length` bytes of it. */
export function tarHeader({ path, mode }: TarEntry, length: number, mtime: Date): Buffer {
  const block = Buffer.alloc(BLOCK)
  if (Buffer.byteLength(path) > 99) throw new RangeError(`Path too long for the archive: ${path}`)
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0')
  block.write(path, 0)
  block.write(octal(mode, 7), 100)
  block.write(octal(0, 7), 108)
  block.write(octal(0, 7), 116)
  block.write(octal(length, 11), 124)
  block.write(octal(Math.floor(mtime.getTime() / 1000), 11), 136)
  block.write(path.endsWith('/') ? '5' : '0', 156)
  block.write('ustar\x0000', 257)
  block.write('root', 265)
  block.write('root', 297)
  // The sum is taken with its own field as spaces.
  block.fill(' ', 148, 156)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${octal(sum, 6)}\0 `, 148)
  return block
}

const zeros = (length: number, unit: number) => Buffer.alloc((unit - (length % unit)) % unit)
