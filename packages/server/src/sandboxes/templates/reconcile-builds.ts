import { createTally, type PassReport } from '../../platform/pass-report.ts'
import type { Services } from '../../platform/services.ts'
import { buildsInWork } from './build-store.ts'
import { dropOldLayers } from './layer-store.ts'
import { runBuild } from './run-build.ts'

const TIDY_MS = 600_000

export interface TemplateBuilder {
  /** Goes on with every build that this process does not work on already. Idle when there is none. */
  pass(): Promise<PassReport>
  /** Resolves when nothing is being done any more. */
  idle(): Promise<void>
  /** Lets go of all builds, with which the next process goes on. */
  end(): Promise<void>
}

/**
 * Builds the templates that are wanted. Takes no input: all it knows is the database and what goes on in the sandboxes, so it
 * can be killed at any step and goes on from there.
 */
export function createTemplateBuilder(services: Services): TemplateBuilder {
  const { db, clock, log } = services
  const busy = new Map<string, Promise<void>>()
  const ending = new AbortController()
  const tally = createTally()
  let tidiedAt = Number.NEGATIVE_INFINITY

  const idle = async () => void (await Promise.all(busy.values()))
  return {
    async pass() {
      const now = clock.now()
      if (now.getTime() - tidiedAt >= TIDY_MS) {
        await dropOldLayers(db, now)
        tidiedAt = now.getTime()
      }
      const builds = await buildsInWork(db)
      for (const { id } of builds) {
        if (busy.has(id)) continue
        const work = runBuild(services, id, ending.signal)
          .then(tally.done)
          .catch((error) => {
            tally.failed()
            log.error({ err: error, build: id }, 'Building a template failed')
          })
          .finally(() => busy.delete(id))
        busy.set(id, work)
      }
      return tally.report(builds.length, builds.length === 0)
    },
    idle,
    async end() {
      ending.abort()
      await idle()
    },
  }
}
