import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import type { Services } from '../platform/services.ts'

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const OBJECT_IN_USE = '55006'

/** A separate database, copied from the template of this run, with the schema and no other content. */
export async function createTestDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const template = inject('postgresUrl')
  const name = `test_${randomBytes(8).toString('hex')}`
  const admin = new URL(template)
  const source = admin.pathname.slice(1)
  admin.pathname = '/postgres'
  const run = async (sql: string) => {
    const client = new pg.Client({ connectionString: admin.href })
    await client.connect()
    await client.query(sql).finally(() => client.end())
  }
  await run(`create database ${name} template ${source}`)
  const url = new URL(template)
  url.pathname = `/${name}`
  const dropNow = () => run(`drop database ${name}`)
  /** Ends remaining clients itself, since the forced form of `drop` is refused during an autovacuum. */
  const drop = () =>
    dropNow().catch(async (error) => {
      if (error.code !== OBJECT_IN_USE) throw error
      await run(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = '${name}' and backend_type = 'client backend'`,
      )
      await dropNow()
    })
  return { url: url.href, drop }
}

/** Tables that count requests: they change with each request, even a refused one. */
const COUNTERS = ['rate_bucket', 'failed_login']

/** The number of rows of each table, and a hash of its content: when two snapshots are equal, nothing has changed. */
export async function snapshot(db: pg.Pool): Promise<Record<string, string>> {
  const { rows: tables } = await db.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public' order by 1`,
  )
  const kept = tables.filter(({ name }) => !COUNTERS.includes(name))
  const { rows } = await db.query<{ name: string; state: string }>(
    kept
      .map(
        ({ name }) =>
          `select '${name}' as name, count(*) || ' rows ' || coalesce(md5(string_agg(t::text, '|' order by t::text)), '') as state from ${name} t`,
      )
      .join(' union all '),
  )
  return Object.fromEntries(rows.map(({ name, state }) => [name, state]))
}

/** The same services, killed at their n-th statement: from then on nothing reaches the database. */
export function dyingAt(services: Services, statement: number): { services: Services; died(): boolean } {
  const { db } = services
  let count = 0
  let dead = false
  const die = () => {
    dead ||= ++count === statement
    if (dead) throw new Error('Killed')
  }
  const query = async (text: string, values?: unknown[]) => {
    die()
    return db.query(text, values)
  }
  const connect = async () => {
    const client = await db.connect()
    return {
      query: async (text: string, values?: unknown[]) => {
        // A lost connection rolls back by itself.
        if (text !== 'rollback') die()
        return client.query(text, values)
      },
      release: (error?: Error) => client.release(error),
    }
  }
  return { services: { ...services, db: { query, connect } as unknown as pg.Pool }, died: () => dead }
}
