import { mkdir, readdir, readlink, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Which machine has which number of something that a host has once, whichever service the machine belongs to: one
 * symbolic link per number that names the machine, since making one is a single step that only one can win. The folder
 * is emptied by a reboot. Needs root.
 */
export function hostClaims(kind: string) {
  const folder = join('/run/coinrack', kind)
  const linkOf = (number: number) => join(folder, String(number))
  return {
    /** Whether the number is the machine's now. */
    async claim(number: number, id: string): Promise<boolean> {
      await mkdir(folder, { recursive: true, mode: 0o755 })
      try {
        await symlink(id, linkOf(number))
        return true
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
      // A number that is freed meanwhile has no owner: the caller goes on to the next.
      return (await readlink(linkOf(number)).catch(() => undefined)) === id
    },

    /** The numbers that machines have, by machine. */
    async all(): Promise<Map<string, number>> {
      const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return []
        throw error
      })
      const found = await Promise.all(
        // A number that is freed meanwhile has no owner.
        names.map(
          async (name) => [await readlink(linkOf(Number(name))).catch(() => ''), Number(name)] as const,
        ),
      )
      return new Map(found)
    },

    /** Gives the number up, if it is the machine's. */
    async free(number: number, id: string): Promise<void> {
      if ((await readlink(linkOf(number)).catch(() => undefined)) === id) await rm(linkOf(number))
    },
  }
}
