import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'

const folder = new URL('./migrations/', import.meta.url)
/** An arbitrary number, the same for all replicas, so that one migrates while the others wait. */
const MIGRATION_LOCK = 7_266_342
/** A day: a statement timeout that overrides the one of the pool. */
const PATIENT = { query_timeout: 86_400_000 }

/**
 * Brings the database to the newest schema: each file of `migrations/` once, in order, each in its own transaction.
 * @param only limits the run to these files; by default all of them
 * @throws when an applied file has changed since, as migrations are append-only; when the role that owns the ledger is
 * missing and the service may not create it
 */
export async function migrate(pool: pg.Pool, { only }: { only?: string[] } = {}): Promise<void> {
  const client = await pool.connect()
  try {
    // A migration may take long, and the other replicas wait for it.
    await client.query('set statement_timeout = 0')
    await client.query({
      ...PATIENT,
      text: 'select pg_advisory_lock($1)',
      values: [MIGRATION_LOCK],
    })
    await ensureLedgerRole(client)
    await client.query(
      'create table if not exists schema_migration (name text primary key, hash text not null, applied_at timestamptz not null default now())',
    )
    const { rows } = await client.query<{ name: string; hash: string }>(
      'select name, hash from schema_migration',
    )
    const applied = new Map(rows.map((row) => [row.name, row.hash]))
    for (const name of await migrationNames()) {
      if (only && !only.includes(name)) continue
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
    // The connection is destroyed, since its limits differ from those of the pool.
    client.release(true)
  }
}

/** The files of `migrations/` in the order in which they are applied. */
export const migrationNames = async () =>
  (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()

/** The role that owns the tables of the ledger; it cannot log in. */
export const LEDGER_ROLE = 'coinrack_ledger'
/** A member has the rights of the role only after an explicit `set role`. */
const MEMBERSHIP = 'with inherit false, set true'
/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const NOT_PERMITTED = '42501'
const [DUPLICATE_OBJECT, UNIQUE_VIOLATION] = ['42710', '23505']

/**
 * Creates the role that owns the ledger when it is missing, and lets the role of the service assume it. Roles belong to
 * the whole server, so another of its databases may have created it.
 */
export async function ensureLedgerRole(client: pg.ClientBase, member?: string): Promise<void> {
  const { rows } = await client.query<{ role: string; can_take: boolean | null }>(
    `select coalesce($2, current_user) as role, (
       select pg_has_role(coalesce($2, current_user), oid, 'SET') from pg_roles where rolname = $1
     ) as can_take`,
    [LEDGER_ROLE, member ?? null],
  )
  const { role, can_take } = rows[0]!
  const create = `create role ${LEDGER_ROLE} nologin`
  const grant = `grant ${LEDGER_ROLE} to ${pg.escapeIdentifier(role)} ${MEMBERSHIP}`
  try {
    if (can_take === null)
      await client.query(create).catch((error) => {
        if (![DUPLICATE_OBJECT, UNIQUE_VIOLATION].includes(error.code)) throw error
      })
    if (!can_take) await client.query(grant)
  } catch (error) {
    if ((error as pg.DatabaseError).code !== NOT_PERMITTED) throw error
    throw new Error(
      `The database lacks the role that owns the ledger. Let an administrator of it run: ${create}; ${grant};`,
      { cause: error },
    )
  }
}
