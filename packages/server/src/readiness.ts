import type { Services } from './services.ts'

/** One part that has to be there before the service is what it promises. */
export interface Part {
  name: string
  ready: boolean
  /** What is under way, or what is wrong. */
  detail?: string
}

export type Readiness = () => Promise<Part[]>

/** Looks at every default part: database, chains, VM host and its images. */
export function createReadiness({ db, chains, driver }: Services): Readiness {
  const look = async (name: string, check: () => Promise<string | undefined>): Promise<Part> => {
    try {
      const missing = await check()
      return missing === undefined ? { name, ready: true } : { name, ready: false, detail: missing }
    } catch (error) {
      return { name, ready: false, detail: (error as Error).message }
    }
  }
  return async () => {
    const images = await driver.images().catch(() => [])
    return Promise.all([
      look('database', async () => {
        await db.query('select 1')
        return undefined
      }),
      ...chains.map(({ settings, port }) =>
        look(`chain ${settings.network}`, async () =>
          (await port.block('latest')) ? undefined : 'no block',
        ),
      ),
      look('machines', async () => {
        const { memoryMb } = await driver.capacity()
        return memoryMb > 0 ? undefined : 'this host has no memory to give'
      }),
      // One that the operator added is nothing that the service promises by itself.
      ...images
        .filter(({ added }) => !added)
        .map(({ slug, state, detail }) =>
          look(`image ${slug}`, async () => (state === 'ready' ? undefined : (detail ?? state))),
        ),
    ])
  }
}
