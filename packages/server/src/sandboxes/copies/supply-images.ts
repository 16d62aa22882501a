import { LOCAL_HOST } from '../../platform/machine-host.ts'
import type { PassReport } from '../../platform/pass-report.ts'
import type { SandboxHost } from '../../platform/sandbox-host.ts'
import type { Services } from '../../platform/services.ts'
import { copyArtifact } from './copy-artifact.ts'

type Supplying = Pick<Services, 'sandboxes' | 'sandboxImages' | 'log'>

/**
 * Gives every remote host the images of templates. This computer alone is believed about images: what a host said
 * would run on all others.
 */
export function createImageSupply(services: Supplying): { pass(): Promise<PassReport> } {
  const { sandboxImages, log } = services
  const busy = new Map<SandboxHost, Promise<void>>()

  return {
    async pass() {
      const remote = [...services.sandboxes].filter(([id]) => id !== LOCAL_HOST)
      if (remote.length === 0 || !sandboxImages) return { seen: 0, done: 0, failed: 0, isIdle: true }
      await sandboxImages.prepare()
      for (const [id, host] of remote) {
        if (busy.has(host)) continue
        const work = supplyImages(services, host)
          .catch((error) => log.warn({ err: error, host: id }, 'A host was not given all images'))
          .finally(() => busy.delete(host))
        busy.set(host, work)
      }
      await Promise.race(busy.values())
      return { seen: remote.length, done: 0, failed: 0 }
    },
  }
}

/**
 * Gives a host those images that it does not have.
 * @param needed the ids of artifacts; default: all that are here
 */
export async function supplyImages(
  { sandboxImages }: Pick<Services, 'sandboxImages'>,
  { artifacts }: SandboxHost,
  needed?: readonly string[],
): Promise<void> {
  const there = new Set(await artifacts.list())
  const wanted = (needed ?? (await sandboxImages?.list()) ?? []).filter((id) => !there.has(id))
  for (const id of wanted) {
    if (!sandboxImages) throw new Error(`The host has no ${id}, and this computer keeps no images`)
    await copyArtifact(await sandboxImages.describe(id), sandboxImages, artifacts)
  }
}
