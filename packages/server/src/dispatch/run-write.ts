import type pg from 'pg'
import { inTransaction, type Queryable } from '../database/transaction.ts'
import { OperationError } from '../platform/errors.ts'
import type { Services } from '../platform/services.ts'
import type { Answer } from './dispatch.ts'
import {
  beginRun,
  endRun,
  forgetAnswer,
  type Idempotency,
  keepRun,
  remember,
  replaceAnswer,
  replay,
  storedAnswer,
} from './idempotency.ts'

/** A handler with its call. */
export interface Work {
  /** Does what is slow, before the transaction. @returns what `run` is to be given */
  prepare: (() => Promise<unknown>) | undefined
  run(db: Queryable, prepared?: unknown): Promise<Done>
}

/** The result of a handler, and what its answer waits for once that is committed. */
interface Done {
  body: Record<string, unknown>
  finish: (() => Promise<Record<string, unknown>>) | undefined
}

/** Runs the work of writes, each once for its idempotency key. */
export function createRuns(services: Services) {
  /** Runs what acts on a machine or is paid, which may take long, in no transaction. Its answer is remembered like any other. */
  async function outside(
    db: Queryable,
    work: Work,
    idempotency: Idempotency | undefined,
    gone: AbortSignal | undefined,
  ): Promise<Answer> {
    if (!idempotency) return { status: 200, body: (await work.run(db)).body, headers: {} }
    const stored = await inTransaction(services.db, async (tx) => {
      const answer = await replay(tx, services, idempotency)
      if (!answer) await beginRun(tx, services, idempotency)
      return answer
    })
    if (stored) return replayed(stored)
    const stopKeeping = keepRun(services, idempotency)
    try {
      const { body } = await work.run(services.db)
      if (gone?.aborted) await endRun(services, idempotency)
      else await remember(services.db, services, idempotency, body)
      return { status: 200, body, headers: {} }
    } catch (error) {
      await endRun(services, idempotency)
      throw error
    } finally {
      stopKeeping()
    }
  }

  /** Runs a write in one transaction, with its idempotency record. */
  async function write(db: pg.Pool, work: Work, idempotency: Idempotency | undefined): Promise<Answer> {
    // A call that was answered before is not prepared again: the answer may rest on what has changed since.
    const before = work.prepare && idempotency && (await storedAnswer(db, services, idempotency))
    if (before) return replayed(before)
    const prepared = await work.prepare?.()
    let kept: OperationError | undefined
    let finish: Done['finish']
    const answer = await inTransaction(db, async (tx): Promise<Answer> => {
      kept = undefined
      finish = undefined
      const stored = idempotency && (await replay(tx, services, idempotency))
      if (stored) return replayed(stored)
      try {
        const done = await work.run(tx, prepared)
        finish = done.finish
        if (idempotency) await remember(tx, services, idempotency, done.body)
        return { status: 200, body: done.body, headers: {} }
      } catch (error) {
        if (!(error instanceof OperationError && error.options.keepEffects)) throw error
        kept = error
        return { status: error.status, body: {}, headers: {} }
      }
    })
    if (kept) throw kept
    return finish ? { ...answer, body: await finishWrite(finish, idempotency) } : answer
  }

  /** Waits for what a committed write has begun: the answer is what came of it. */
  async function finishWrite(
    finish: NonNullable<Done['finish']>,
    idempotency: Idempotency | undefined,
  ): Promise<Record<string, unknown>> {
    try {
      const body = await finish()
      if (idempotency) await replaceAnswer(services, idempotency, body)
      return body
    } catch (error) {
      if (idempotency) await forgetAnswer(services, idempotency)
      throw error
    }
  }

  return { outside, write }
}

/** The answer to a write that was done before. */
export const replayed = (body: Record<string, unknown>): Answer => ({
  status: 200,
  body,
  headers: { 'idempotent-replayed': 'true' },
})
