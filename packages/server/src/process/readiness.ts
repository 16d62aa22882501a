import { adoptDetached } from '@coinrack/host/detached-process.ts'
import type { Chain } from '../chain/chain-port.ts'
import { dataLayout } from '../data-folder/data-layout.ts'
import { freeDisk } from '../data-folder/free-disk.ts'
import { hostImages } from '../hosts/host-images.ts'
import { hostRows, SANDBOX_HOST } from '../hosts/host-store.ts'
import { LOCAL_HOST } from '../platform/machine-host.ts'
import type { Services } from '../platform/services.ts'

/** One part that has to be there before the service is what it promises. */
export interface Part {
  name: string
  ready: boolean
  /** A text that says what is under way, or what is wrong. */
  detail?: string
}

export type Readiness = () => Promise<Part[]>

/** In bytes: PostgreSQL takes its log of changes in pieces of 16 MB. */
const LEAST_DISK = 64 * 2 ** 20

/**
 * Looks at every part that the service is made of: database, disk, chains, VM host, its images, and the templates of
 * sandboxes where they are in this process.
 */
export function createReadiness(services: Services): Readiness {
  const { db, chains, config } = services
  const look = async (name: string, check: () => Promise<string | undefined>): Promise<Part> => {
    try {
      const missing = await check()
      return missing === undefined ? { name, ready: true } : { name, ready: false, detail: missing }
    } catch (error) {
      return { name, ready: false, detail: (error as Error).message }
    }
  }

  /** Ready while one endpoint answers; those that are not relied on are named. */
  const chainPart = async ({ settings, port }: Chain): Promise<Part> => {
    const part = await look(`chain ${settings.network}`, async () => void (await port.newest()))
    const troubles = port
      .endpoints()
      .flatMap(({ name, trouble }) => (trouble === undefined ? [] : [`${name}: ${trouble}`]))
    return part.ready && troubles.length > 0 ? { ...part, detail: troubles.join('; ') } : part
  }

  /** One for each template that is to be prepared; none in a service that passes on what needs sandboxes. */
  const sandboxes = async (): Promise<Part[]> => {
    if (!config.sandboxes || !config.localMachines) return []
    const name = 'sandboxes'
    const { runtime } = services.sandboxes.get(LOCAL_HOST) ?? {}
    if (!runtime) {
      const holder = await adoptDetached(dataLayout(config.dataFolder).machinesPidFile)
      if (holder === process.pid) return [{ name, ready: false, detail: 'they are being opened' }]
      if (holder === undefined) return [{ name, ready: false, detail: 'no service tends the machines yet' }]
      return []
    }
    const templates = await runtime.templates().catch((error: Error) => error)
    if (templates instanceof Error) return [{ name, ready: false, detail: templates.message }]
    return Promise.all(
      templates.map((template) =>
        look(`sandbox template ${template.name}`, async () =>
          template.state === 'ready' ? undefined : (template.detail ?? template.state),
        ),
      ),
    )
  }

  const lookAtAll = async () => {
    // One statement after the other: anybody may ask, and holds no more than one connection.
    const hosts = await hostRows(db).then(
      (rows) => rows.filter(({ kind }) => kind !== SANDBOX_HOST),
      (error: Error) => error,
    )
    const images = await hostImages(db).catch(() => [])
    const parts = await Promise.all([
      look('database', async () => (hosts instanceof Error ? hosts.message : undefined)),
      look('disk', async () => {
        const free = await freeDisk(config.dataFolder)
        return free >= LEAST_DISK ? undefined : `${Math.floor(free / 2 ** 20)} MB are left`
      }),
      ...chains.map(chainPart),
      look('machines', async () => {
        if (hosts instanceof Error) return 'the database does not answer'
        if (hosts.some(({ memory_mb, trouble }) => trouble === null && (memory_mb ?? 0) > 0)) return undefined
        const trouble = hosts.find((host) => host.trouble !== null)?.trouble
        const isNew = hosts.every(({ memory_mb }) => memory_mb === null)
        return trouble ?? (isNew ? 'no host has said yet what it has' : 'no host has memory to give')
      }),
      // An image that the operator added is not promised by the service itself.
      ...images
        .filter(({ added }) => !added)
        .map(({ slug, state, detail }) =>
          look(`image ${slug}`, async () => (state === 'ready' ? undefined : (detail ?? state))),
        ),
    ])
    return [...parts, ...(await sandboxes())]
  }

  // Anybody may ask, as often as they like: those who ask while it is being looked are answered the same.
  let looking: Promise<Part[]> | undefined
  return () => {
    looking ??= lookAtAll().finally(() => {
      looking = undefined
    })
    return looking
  }
}
