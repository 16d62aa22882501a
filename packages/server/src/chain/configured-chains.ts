import { readFile } from 'node:fs/promises'
import type { RunAs } from '@coinrack/host/as-user.ts'
import type { Config } from '../config/config.ts'
import type { ChainSettings } from './chain-settings.ts'
import { type DemoBody, startDemoChains } from './demo-chains.ts'
import { readProductionChains } from './production-chains.ts'

/**
 * The chains on which the service takes money: those of the operator's file, or in the demo profile the local ones, which
 * are started unless they are running.
 * @throws an Error that names every wrong field of the file
 */
export async function configuredChains(
  { profile, dataFolder, cacheFolder, chainsFile }: Config,
  user: RunAs | undefined,
  onProgress: (line: string) => void,
): Promise<{ settings: ChainSettings[]; demo: DemoBody | undefined }> {
  if (profile === 'demo') {
    const { chains, demo } = await startDemoChains({ dataFolder, cacheFolder, user, onProgress })
    return { settings: chains, demo }
  }
  return { settings: readProductionChains(await readFile(chainsFile!, 'utf8')), demo: undefined }
}
