import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sandboxTemplates } from '@coinrack/compute/sandbox/image/recipes.ts'

const LOOK_MS = 400

/** The service boots them one after the other when it begins, beside whatever else it does. */
export async function untilTemplatesAreThere(dataFolder: string): Promise<void> {
  const isThere = (name: string) => !name.endsWith('.building') && !name.endsWith('.pid')
  for (;;) {
    const names = await readdir(join(dataFolder, 'sandbox-templates')).catch(() => [])
    if (names.filter(isThere).length === sandboxTemplates.length) return
    await sleep(LOOK_MS)
  }
}
