import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { ownOfReplica } from '../../config/config-replicas.ts'
import { settings } from '../../config/config-settings.ts'
import type { Bundle } from './bundle.ts'

/** The settings that hold what the data folder keeps otherwise, by the name of its secret. */
const SECRETS = {
  server: settings.serverSecret.name,
  deposit: settings.depositSecret.name,
  receipt: settings.receiptSecret.name,
  x402: settings.x402Key.name,
}
/** The settings that name a file, with its name in the bundle. */
const FILES = { chainsFile: 'chains.json', catalogFile: 'catalog.json', clusterFile: 'cluster.json' } as const
/** The fields of the file about a cluster that name a file, with its name in the bundle. */
const CLUSTER_FILES = {
  certificate: 'cluster-client.pem',
  key: 'cluster-client-key.pem',
  cluster_certificate: 'cluster.pem',
}

/**
 * The settings, secrets and files that all replicas have in common.
 * @param texts the settings of this service by name
 * @param files where those settings lead that name a file
 * @param secrets by the name of their file in the data folder
 */
export async function collectBundle(
  texts: Readonly<Record<string, string>>,
  files: { [Field in keyof typeof FILES]: string | undefined },
  secrets: Readonly<Record<string, string>>,
): Promise<Pick<Bundle, 'settings' | 'files'>> {
  const own = new Set<string>(ownOfReplica.map((field) => settings[field].name))
  const shared = Object.entries(texts).filter(([name]) => isSetting(name) && !own.has(name))
  const kept: Record<string, string> = Object.fromEntries(shared)
  for (const [secret, setting] of Object.entries(SECRETS)) {
    const value = secrets[secret]
    if (value !== undefined) kept[setting] = value
  }
  const found: Record<string, string> = {}
  for (const [field, name] of Object.entries(FILES)) {
    const path = files[field as keyof typeof FILES]
    if (path === undefined) continue
    kept[settings[field as keyof typeof FILES].name] = name
    const text = await readFile(path, 'utf8')
    Object.assign(found, name === FILES.clusterFile ? await clusterFiles(path, text) : { [name]: text })
  }
  return { settings: kept, files: found }
}

/** The file about a cluster, which names those beside it, and those. */
async function clusterFiles(path: string, text: string): Promise<Record<string, string>> {
  const cluster = JSON.parse(text) as Record<string, string>
  const found: Record<string, string> = {}
  for (const [field, name] of Object.entries(CLUSTER_FILES)) {
    found[name] = await readFile(resolve(dirname(path), cluster[field]!), 'utf8')
    cluster[field] = name
  }
  return { ...found, [FILES.clusterFile]: JSON.stringify(cluster, null, 2) }
}

const isSetting = (name: string) => /^(COINRACK_|DATABASE_URL$|SMTP_URL$)/.test(name)
