import type { RunAs } from '@coinrack/host/as-user.ts'
import type { ImageStore } from '../images/image-store.ts'
import { findAcceleration, type Verdict } from './acceleration.ts'
import { rightsFor } from './jail.ts'

export interface HostAccelerationOptions {
  cacheFolder: string
  images: Pick<ImageStore, 'get' | 'status'>
  /** The user who tries it out; needed when the caller is root. */
  user: RunAs | undefined
}

/** How guests run on this host: settled at the first call that does not fail, with whatever image there is. */
export function hostAcceleration({ cacheFolder, images, user }: HostAccelerationOptions) {
  let verdict: Promise<Verdict> | undefined

  const anyImage = async () => {
    const all = await images.status()
    const wanted = all.find(({ state }) => state === 'ready') ?? all[0]!
    return images.get(wanted.slug)
  }
  const probe = async (onProgress?: (line: string) => void) => {
    const prober = await rightsFor(user, 'kvm')
    return findAcceleration({ cacheFolder, image: await anyImage(), user: prober, onProgress })
  }

  return (onProgress?: (line: string) => void): Promise<Verdict> => {
    verdict ??= probe(onProgress).catch((error) => {
      verdict = undefined
      throw error
    })
    return verdict
  }
}
