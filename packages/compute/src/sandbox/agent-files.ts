import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cpioArchive } from './cpio.ts'

const FOLDER = join(import.meta.dirname, 'guest')

/**
 * The initial RAM disk of an image with the agent in it: so the agent is of the service's version, whatever the image
 * is. Linux reads archives one after the other, each from a multiple of four bytes on.
 */
export async function withAgent(initrd: Buffer): Promise<Buffer> {
  const names = (await readdir(FOLDER)).filter((name) => /\.(py|cjs|sh)$/.test(name)).sort()
  const files = await Promise.all(
    names.map(async (name) => ({ name: `agent/${name}`, content: await readFile(join(FOLDER, name)) })),
  )
  return Buffer.concat([initrd, Buffer.alloc(-initrd.length & 3), cpioArchive(files)])
}
