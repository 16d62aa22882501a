import { statfs } from 'node:fs/promises'

/** Bytes that programs without special rights can still write to the disk of a folder; without the folder, no end of them. */
export async function freeDisk(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Infinity
    throw error
  }
}
