import { mkdir, readdir, readlink, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { DriverError } from '../vps-driver.ts'
import { HIGHEST_SLOT } from './addresses.ts'

/*
 * Which machine has which link addresses. Kept beside the namespaces, in a folder that a reboot empties as it ends
 * those: one symbolic link per slot that names the machine, since making one is a single step that only one can win.
 */
const FOLDER = '/run/coinrack/links'

/** The slot of a machine, the same for as long as it has one; takes the lowest free one when it has none. */
export async function takeSlot(id: string): Promise<number> {
  for (;;) {
    const taken = await slots()
    const own = taken.get(id)
    if (own !== undefined) return own
    const used = new Set(taken.values())
    let slot = 1
    while (used.has(slot)) slot++
    if (slot > HIGHEST_SLOT)
      throw new DriverError('no_space', `This host has links for ${HIGHEST_SLOT} machines`)
    await mkdir(FOLDER, { recursive: true, mode: 0o755 })
    const won = await symlink(id, join(FOLDER, String(slot))).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error
        return false
      },
    )
    if (won) return slot
  }
}

/** The slot that the machine has. */
export async function slotOf(id: string): Promise<number | undefined> {
  return (await slots()).get(id)
}

export async function freeSlot(slot: number): Promise<void> {
  await rm(join(FOLDER, String(slot)), { force: true })
}

async function slots(): Promise<Map<string, number>> {
  const names = await readdir(FOLDER).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const found = await Promise.all(
    // One that is freed meanwhile is nobody's.
    names.map(async (name) => [await readlink(join(FOLDER, name)).catch(() => ''), Number(name)] as const),
  )
  return new Map(found)
}
