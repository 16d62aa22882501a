import { rmSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { createImageStore } from '../images/image-store.ts'
import { makeDataFolder } from '../local-vps/testing-clones.ts'
import { groupFolders } from '../machine/control-groups/control-groups.ts'
import { hostAcceleration } from '../machine/host-acceleration.ts'
import type { MachineNetworks } from '../network/machine-networks.ts'
import { shareTemplates, takeTemplates } from '../testing-template-shelf.ts'
import { createSandboxes, type Sandboxes, type SandboxesOptions } from './runtime.ts'

export const CACHE_FOLDER = '/var/cache/coinrack'
export const PARENT = `/coinrack-test-${process.pid}`

/** Sandboxes in a folder of the test's own, with the image of the template built. */
export async function makeSandboxes(
  change: Partial<SandboxesOptions> = {},
  template = 'base',
): Promise<Sandboxes & { dataFolder: string; said: string[] }> {
  const dataFolder = change.dataFolder ?? (await makeDataFolder())
  if (!change.dataFolder) process.once('exit', () => rmSync(dataFolder, { recursive: true, force: true }))
  if (!change.dataFolder) await takeTemplates(dataFolder)
  const said: string[] = []
  const user = await serviceUser()
  const images = createImageStore({ cacheFolder: CACHE_FOLDER })
  const sandboxes = await createSandboxes({
    ...{ dataFolder, cacheFolder: CACHE_FOLDER, user, controlGroup: PARENT },
    clock: { now: () => new Date() },
    log: { info: (fields, message) => void said.push(`${message} ${describeError(fields)}`) },
    acceleration: hostAcceleration({ cacheFolder: CACHE_FOLDER, images, user }),
    networks: { isPossible: async () => false } as MachineNetworks,
    templateNiceness: 0,
    ...change,
  })
  await sandboxes.prepare(template, () => {})
  return {
    ...sandboxes,
    dataFolder,
    said,
    async keepTemplate(...shape) {
      await sandboxes.keepTemplate(...shape)
      await shareTemplates(dataFolder)
    },
  }
}

const describeError = (fields: object) => ('err' in fields ? String((fields.err as Error).stack) : '')

/** The machine's folder that belongs to the sandbox. */
export async function folderOf(dataFolder: string, sandboxId: string): Promise<string | undefined> {
  const folder = join(dataFolder, 'sandboxes')
  for (const name of await readdir(folder)) {
    const text = await readFile(join(folder, name, 'machine.json'), 'utf8').catch(() => '{}')
    if ((JSON.parse(text) as { sandbox?: { id: string } }).sandbox?.id === sandboxId)
      return join(folder, name)
  }
  return undefined
}

/** Process ids of the QEMU of a machine's folder. */
export const processesIn = (folder: string) => processesNamed([folder.split('/').at(-1)!])

/** Process ids of every QEMU of a sandbox, given or not, in a data folder. */
export const processesOf = async (dataFolder: string) =>
  processesNamed(await readdir(join(dataFolder, 'sandboxes')))

async function processesNamed(machines: string[]): Promise<number[]> {
  const found: number[] = []
  for (const name of (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))) {
    const line = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')
    if (line.startsWith('qemu-system') && machines.some((machine) => line.includes(`\0${machine},`)))
      found.push(Number(name))
  }
  return found
}

/** Control groups of a machine. */
export const groupsOf = async (machineId: string) => {
  const { existsSync } = await import('node:fs')
  return (await groupFolders(PARENT, machineId)).filter((folder) => existsSync(folder))
}
