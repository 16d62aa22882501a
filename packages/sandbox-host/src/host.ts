import { freemem, totalmem } from 'node:os'
import { join } from 'node:path'
import { createImageStore } from '@coinrack/compute/images/image-store.ts'
import { hostAcceleration } from '@coinrack/compute/machine/host-acceleration.ts'
import { sandboxRecipes } from '@coinrack/compute/sandbox/image/recipes.ts'
import { createSandboxes, type Sandboxes } from '@coinrack/compute/sandbox/runtime.ts'
import { sandboxTariffs } from '@coinrack/contract/sandbox-tariffs.ts'
import type { ServiceUser } from '@coinrack/host/service-user.ts'
import type { Settings } from './settings.ts'

/** The size that is ordered most. */
const { vcpus, memory_mb: memoryMb, disk_gb: diskGb } = sandboxTariffs.micro
const USUAL = { vcpus, memoryMb, diskGb }
const KEPT_SHARE = 0.25
const LOOK_MS = 10_000

export interface HostWorld {
  settings: Settings
  user: ServiceUser | undefined
  clock: { now(): Date }
  log: { info(fields: object, message: string): void }
  say(line: string): void
}

/** Runs the sandboxes of this machine. Their images come from the service. */
export async function openHost({ settings, user, clock, log, say }: HostWorld): Promise<Sandboxes> {
  const { dataFolder, cacheFolder } = settings
  const images = createImageStore({ cacheFolder, recipes: sandboxRecipes })
  const { pool, ...machines } = settings
  const sandboxes = await createSandboxes({
    ...machines,
    user,
    clock,
    log,
    acceleration: hostAcceleration({ cacheFolder, images, user }),
    pool: { most: pool, always: [{ template: 'base', ...USUAL }], roomMb: spareMemory },
  })
  say(`The sandboxes of this machine are in ${join(dataFolder, 'sandboxes')}`)
  return sandboxes
}

/**
 * Keeps ready what sandboxes begin as, as the images come.
 * @returns what ends it
 */
export function keepReady(sandboxes: Sandboxes, say: (line: string) => void): () => void {
  const ready = new Set<string>()
  const look = async () => {
    for (const { name, state } of await sandboxes.runtime.templates()) {
      if (state !== 'ready') continue
      if (!ready.has(name)) say(`The image of ${name} is here; its first machine boots`)
      await sandboxes.keepTemplate(name, USUAL)
      if (!ready.has(name)) say(`Sandboxes of ${name} can be made`)
      ready.add(name)
    }
    if (ready.size > 0) await sandboxes.tendPool()
  }
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  const again = async () => {
    await look().catch((error) => say(`Sandboxes could not be made ready: ${(error as Error).message}`))
    if (!isOver) timer = setTimeout(again, LOOK_MS)
  }
  void again()
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}

/** The memory that nothing uses now beyond what the machine keeps for itself, in MB. */
const spareMemory = async (): Promise<number> => Math.floor((freemem() - totalmem() * KEPT_SHARE) / 1024 ** 2)
