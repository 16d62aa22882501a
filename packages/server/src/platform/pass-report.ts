import type { Queryable } from '../database/transaction.ts'
import type { Services } from './services.ts'

/** The outcome of a pass in the background. */
export interface PassReport {
  /** How many things it looked at. */
  seen: number
  done: number
  failed: number
  /** There is nothing to do, and nothing to watch. */
  isIdle?: boolean
}

/** Counts what is done and what fails between two passes that begin it and do not wait for it. */
export function createTally() {
  let counts = { done: 0, failed: 0 }
  return {
    done() {
      counts.done++
    },
    failed() {
      counts.failed++
    },
    /** The report of a pass, with all that was counted since the one before. */
    report(seen: number, isIdle: boolean): PassReport {
      const report = { seen, ...counts, isIdle }
      counts = { done: 0, failed: 0 }
      return report
    },
  }
}

/** How often a pass is written down that did what the one before did. */
const QUIET_MS = 60_000
/** And any other one. */
const BUSY_MS = 5_000

/**
 * The same pass, which also writes down what it did, for `operator background`: soon when something was done or failed, and
 * else once a minute. That it cannot be written down is no failure of the pass.
 * @param name of the loop, as the operator reads it
 */
export function reportedPass(
  { db, clock, log }: Pick<Services, 'db' | 'clock' | 'log'>,
  name: string,
  pass: () => Promise<PassReport | undefined>,
): () => Promise<PassReport | undefined> {
  let writtenAt = Number.NEGATIVE_INFINITY
  let before: string | undefined
  let since = { done: 0, failed: 0 }

  async function note(
    begun: number,
    report: PassReport | undefined,
    error: string | undefined,
  ): Promise<void> {
    const now = performance.now()
    since.done += report?.done ?? 0
    since.failed += (report?.failed ?? 0) + (error === undefined ? 0 : 1)
    const isQuiet = since.done === 0 && since.failed === 0 && error === before
    if (now - writtenAt < (isQuiet ? QUIET_MS : BUSY_MS)) return
    const row = { name, tookMs: now - begun, seen: report?.seen ?? 0, ...since, error, at: clock.now() }
    writtenAt = now
    before = error
    since = { done: 0, failed: 0 }
    await savePass(db, row).catch((cause) => log.warn({ err: cause }, 'A pass could not be written down'))
  }

  return async () => {
    const begun = performance.now()
    try {
      const report = await pass()
      await note(begun, report, undefined)
      return report
    } catch (error) {
      await note(begun, undefined, (error as Error).message)
      throw error
    }
  }
}

interface PassRow {
  name: string
  tookMs: number
  seen: number
  done: number
  failed: number
  error: string | undefined
  at: Date
}

async function savePass(
  db: Queryable,
  { name, tookMs, seen, done, failed, error, at }: PassRow,
): Promise<void> {
  await db.query(
    `insert into background_pass as pass (name, ended_at, took_ms, seen, done, failed, error, failed_at)
     values ($1, $2, $3, $4, $5, $6, $7, case when $6::bigint > 0 then $2::timestamptz end)
     on conflict (name) do update set ended_at = $2, took_ms = $3, seen = $4, done = $5, failed = $6, error = $7,
       failed_at = coalesce(excluded.failed_at, pass.failed_at)`,
    [name, at, Math.round(tookMs), seen, done, failed, error ?? null],
  )
}

/** The last pass of a loop, as it was written down. */
export interface LastPass {
  name: string
  ended_at: Date
  took_ms: number
  seen: bigint
  done: bigint
  failed: bigint
  error: string | null
  failed_at: Date | null
}

export async function lastPasses(db: Queryable): Promise<LastPass[]> {
  const { rows } = await db.query<LastPass>('select * from background_pass order by name')
  return rows
}
