/*
 * The archive from which Linux fills its initial file system: the "newc" format of cpio.
 * https://docs.kernel.org/driver-api/early-userspace/buffer-format.html
 */

const REGULAR_FILE = 0o100000

/** Files of the archive, readable by all; folders on the way have to be there already. */
export function cpioArchive(files: { name: string; content: Uint8Array }[]): Buffer {
  const entries = files.map(({ name, content }, index) =>
    entry(index + 1, REGULAR_FILE | 0o644, name, content),
  )
  return Buffer.concat([...entries, entry(0, 0, 'TRAILER!!!', new Uint8Array(0))])
}

function entry(inode: number, mode: number, name: string, content: Uint8Array): Buffer {
  const nameBytes = Buffer.from(`${name}\0`)
  const modifiedAt = 0
  const fields = [...[inode, mode, 0, 0, 1, modifiedAt, content.length], ...[0, 0, 0, 0, nameBytes.length, 0]]
  const header = `070701${fields.map((field) => field.toString(16).toUpperCase().padStart(8, '0')).join('')}`
  return Buffer.concat([padded(Buffer.concat([Buffer.from(header), nameBytes])), padded(content)])
}

/** With zeros up to a multiple of four bytes. */
const padded = (bytes: Uint8Array) => Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)])
