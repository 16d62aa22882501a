import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

/** Runs statements: the pool, or one client inside a transaction. */
export interface Queryable {
  query<R extends pg.QueryResultRow>(
    text: string | pg.QueryConfig,
    values?: unknown[],
  ): Promise<{ rows: R[]; rowCount: number | null }>
}

/** Statements that succeed or fail together. A function that needs a transaction takes this type. */
export interface Transaction extends Queryable {
  readonly [inside]: true
}
declare const inside: unique symbol

const SERIALIZATION_FAILURE = '40001'
const DEADLOCK = '40P01'
const ATTEMPTS = 5

/** How long the first repeat waits, so that the other transaction gets the rows that it waits for; the next ones wait longer. */
const PAUSE_MS = 10

/** The transaction that the running code belongs to. */
const current = new AsyncLocalStorage<{ open: boolean }>()

/** Slow work was requested while a transaction was open: a mistake in the code, not in the request. */
export class SlowWorkError extends Error {
  override name = 'SlowWorkError'
}

/** The connection broke while a transaction was being committed: it was committed or it was not. */
export class CommitInDoubtError extends Error {
  override name = 'CommitInDoubtError'
}

/** A server that shuts down may have committed before it said so. */
const isAnswer = (error: unknown) =>
  error instanceof pg.DatabaseError && error.code !== undefined && !error.code.startsWith('57P')

async function commit(client: pg.PoolClient): Promise<void> {
  try {
    await client.query('commit')
  } catch (error) {
    if (isAnswer(error)) throw error
    throw new CommitInDoubtError('The connection to the database broke at a commit', { cause: error })
  }
}

/**
 * Refuses slow work inside a transaction: it would hold a connection of the pool, and locks, for as long as it takes. Do
 * it before the transaction (see `preparedHandler`), or after the commit.
 * @param what the name of the work for the message, such as "A key derivation"
 * @throws SlowWorkError
 */
export function demandNoTransaction(what: string): void {
  if (current.getStore()?.open) throw new SlowWorkError(`${what} was asked for inside a transaction`)
}

/**
 * Runs `work` in one transaction: committed when it returns, rolled back when it throws. It is retried a bounded number
 * of times, with no connection held in between, when PostgreSQL ended it for a deadlock or a serialization failure.
 * @throws CommitInDoubtError when the database went away at the commit
 * @throws SlowWorkError when a transaction is open already: nested ones could wait for connections that each other hold
 */
export async function inTransaction<T>(pool: pg.Pool, work: (tx: Transaction) => Promise<T>): Promise<T> {
  demandNoTransaction('A transaction of its own')
  for (let attempt = 1; ; attempt++) {
    const client = await pool.connect()
    const transaction = { open: true }
    let broken: Error | undefined
    try {
      await client.query('begin')
      const result = await current.run(transaction, () => work(client as unknown as Transaction))
      await commit(client)
      return result
    } catch (error) {
      await client.query('rollback').catch((failure: Error) => {
        broken = failure
      })
      const { code } = error as { code?: string }
      if ((code !== SERIALIZATION_FAILURE && code !== DEADLOCK) || attempt === ATTEMPTS) throw error
    } finally {
      transaction.open = false
      client.release(broken)
    }
    await pause(PAUSE_MS * attempt)
  }
}
