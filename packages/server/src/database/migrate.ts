import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type pg from 'pg'

const folder = new URL('./migrations/', import.meta.url)
/** Any number: the same for all replicas, so that one migrates and the others wait. */
const MIGRATION_LOCK = 7_266_342
/** A day: what a statement may take when the pool says nothing else. */
const PATIENT = { query_timeout: 86_400_000 }

/**
 * Brings the database to the newest schema: each file of `migrations/` once, in order, each in its own transaction.
 * @throws when a file that was applied has changed since: migrations are append-only
 */
export async function migrate(pool: pg.Pool): Promise<void> {
  const client = await pool.connect()
  try {
    // A migration may take its time, and the other replicas wait for it.
    await client.query('set statement_timeout = 0')
    await client.query({
      ...PATIENT,
      text: 'select pg_advisory_lock($1)',
      values: [MIGRATION_LOCK],
    })
    await client.query(
      'create table if not exists schema_migration (name text primary key, hash text not null, applied_at timestamptz not null default now())',
    )
    const { rows } = await client.query<{ name: string; hash: string }>(
      'select name, hash from schema_migration',
    )
    const applied = new Map(rows.map((row) => [row.name, row.hash]))
    const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
    for (const name of names) {
      const sql = await readFile(new URL(name, folder), 'utf8')
      const hash = createHash('sha256').update(sql).digest('hex')
      if (applied.has(name)) {
        if (applied.get(name) !== hash) throw new Error(`Migration ${name} was changed after it was applied`)
        continue
      }
      await client.query('begin')
      try {
        await client.query({ ...PATIENT, text: sql })
        await client.query('insert into schema_migration (name, hash) values ($1, $2)', [name, hash])
        await client.query('commit')
      } catch (error) {
        await client.query('rollback')
        throw new Error(`Migration ${name} failed: ${(error as Error).message}`, { cause: error })
      }
    }
  } finally {
    await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => {})
    // Not used again: it has other limits than the rest of the pool.
    client.release(true)
  }
}
