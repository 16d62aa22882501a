import { announce } from '../../database/changes.ts'
import type { Queryable } from '../../database/transaction.ts'
import type { Services } from '../../platform/services.ts'
import { type BuildRow, insertLog, type LogLine } from './build-store.ts'

/** The most bytes of the log of one build. */
const MOST_BYTES = 1024 * 1024

/** Thrown when this process lets go of a build, which the next one goes on with. */
export class LetGo extends Error {}

export type BuildLog = ReturnType<typeof createBuildLog>

/** What is told of a build while it goes on. */
export function createBuildLog(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  build: Pick<BuildRow, 'id' | 'log_bytes'>,
  ending: AbortSignal,
) {
  let bytes = Number(build.log_bytes)
  return {
    db,

    /** Adds to it; beyond 1 MiB it says once that nothing more comes. */
    async add(tx: Queryable, lines: readonly Pick<LogLine, 'stream' | 'text'>[]): Promise<void> {
      const fitting: Pick<LogLine, 'stream' | 'text'>[] = []
      for (const { stream, text } of lines) {
        if (bytes > MOST_BYTES) continue
        bytes += Buffer.byteLength(text)
        // PostgreSQL keeps no NUL in a text.
        fitting.push({ stream, text: text.replaceAll('\0', '\ufffd') })
        if (bytes > MOST_BYTES)
          fitting.push({ stream: 'step', text: 'The log is longer than 1 MiB: the rest is left out' })
      }
      if (fitting.length === 0) return
      await insertLog(tx, build.id, fitting, clock.now())
      await tx.query('update sandbox_build set log_bytes = $2 where id = $1', [build.id, bytes])
      await announce(tx, build.id)
    },

    say: async (text: string) => insertAndAnnounce(db, build.id, text, clock.now()),

    /** @throws LetGo when this process ends */
    demandGoOn(): void {
      if (ending.aborted) throw new LetGo()
    },
  }
}

/** A line of the service's own, which always fits. */
async function insertAndAnnounce(db: Queryable, buildId: string, text: string, at: Date): Promise<void> {
  await insertLog(db, buildId, [{ stream: 'step', text }], at)
  await announce(db, buildId)
}
