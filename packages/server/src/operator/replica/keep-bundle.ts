import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { settings } from '../../config/config-settings.ts'
import { dataLayout } from '../../data-folder/data-layout.ts'
import { readOptional, writeAtomically } from '../../data-folder/kept-secret.ts'
import { RefusedError } from '../command.ts'
import type { Bundle } from './bundle.ts'

const CONFIG = 'coinrack.env'
const SHARED = 'shared'

/**
 * Makes a data folder that of a replica without machines: its `coinrack.env` has the settings of the bundle, and names the
 * files of it in `shared/`.
 * @throws RefusedError when the folder is one of a service already
 */
export async function keepBundle(dataFolder: string, bundle: Bundle): Promise<void> {
  const config = join(dataFolder, CONFIG)
  for (const path of [config, dataLayout(dataFolder).profile]) {
    if ((await readOptional(path)) !== undefined)
      throw new RefusedError(
        `${dataFolder} belongs to a service already, as ${path} shows: name an empty COINRACK_DATA`,
      )
  }
  const shared = join(dataFolder, SHARED)
  await mkdir(shared, { recursive: true, mode: 0o700 })
  for (const [name, text] of Object.entries(bundle.files))
    await writeAtomically(join(shared, name), text, 0o600)
  const named = Object.entries(bundle.settings).map(([name, value]) =>
    line(name, value in bundle.files ? join(SHARED, value) : value),
  )
  const lines = [
    '# Settings that all replicas have in common. Those of this one alone, such as COINRACK_REPLICA_ADDRESS, may be added.',
    line(settings.localMachines.name, 'false'),
    ...named,
  ]
  // The last thing that is written: with it the folder is complete.
  await writeAtomically(config, `${lines.join('\n')}\n`, 0o600)
}

const line = (name: string, value: string) => `${name}="${value}"`
