import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

/** A database of its own, copied from the template of this run: the schema is there, and nothing else. */
export async function createTestDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const template = inject('postgresUrl')
  const name = `test_${randomBytes(8).toString('hex')}`
  const admin = new URL(template)
  const source = admin.pathname.slice(1)
  admin.pathname = '/postgres'
  const run = async (sql: string) => {
    const client = new pg.Client({ connectionString: admin.href })
    await client.connect()
    await client.query(sql)
    await client.end()
  }
  await run(`create database ${name} template ${source}`)
  const url = new URL(template)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => run(`drop database ${name} with (force)`) }
}
