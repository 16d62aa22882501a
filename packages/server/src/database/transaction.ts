import type pg from 'pg'

/** Runs statements: the pool, or one client inside a transaction. */
export interface Queryable {
  query<R extends pg.QueryResultRow>(
    text: string | pg.QueryConfig,
    values?: unknown[],
  ): Promise<{ rows: R[]; rowCount: number | null }>
}

/** Statements that stand or fall together. What needs a transaction says so by asking for this type. */
export interface Transaction extends Queryable {
  readonly [inside]: true
}
declare const inside: unique symbol

const SERIALIZATION_FAILURE = '40001'
const DEADLOCK = '40P01'
const ATTEMPTS = 5

/**
 * Runs `work` in one transaction: committed when it returns, rolled back when it throws. Repeated a
 * bounded number of times when PostgreSQL ended it for a deadlock or a serialization failure.
 */
export async function inTransaction<T>(pool: pg.Pool, work: (tx: Transaction) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const client = await pool.connect()
    let broken: Error | undefined
    try {
      await client.query('begin')
      const result = await work(client as unknown as Transaction)
      await client.query('commit')
      return result
    } catch (error) {
      await client.query('rollback').catch((failure: Error) => {
        broken = failure
      })
      const { code } = error as { code?: string }
      if ((code !== SERIALIZATION_FAILURE && code !== DEADLOCK) || attempt === ATTEMPTS) throw error
    } finally {
      client.release(broken)
    }
  }
}
