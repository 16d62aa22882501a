import type { QueryResult } from 'pg'
import { z } from 'zod'

/*
 * A backup, before it is compressed and encrypted, is lines. The first says what it is of, then each table has one
 * with its name and columns, its rows as PostgreSQL's COPY writes them as text, and a line that ends them; the last says
 * that it is whole.
 */

export const VERSION = 1
/** The line that ends the rows of a table, as in the text format of COPY: no row can be that. */
export const END_OF_ROWS = '\\.'

export const BackupHead = z.strictObject({
  format: z.literal('coinrack backup'),
  version: z.literal(VERSION),
  made_at: z.iso.datetime(),
  profile: z.string(),
  /** The migrations of the schema, by name. */
  migrations: z.record(z.string(), z.string()),
  /** Only the operator who restores the backup learns it; the database keeps its hash. */
  proof: z.string(),
  /** By the name of their file. */
  secrets: z.record(z.string(), z.string()),
  /** The last values of the sequences that belong to no column. */
  sequences: z.record(z.string(), z.string()),
})
export type BackupHead = z.infer<typeof BackupHead>

export const TableHead = z.strictObject({ table: z.string(), columns: z.array(z.string()).min(1) })
export const BackupEnd = z.strictObject({ tables: z.number().int(), rows: z.number().int() })

/** A table with its columns that hold something of their own. */
export interface Table {
  name: string
  columns: string[]
  owner: string
}

/** All tables of the schema but the one that lists migrations. */
export async function tablesOf(db: { query(text: string): Promise<QueryResult<Table>> }): Promise<Table[]> {
  const { rows } = await db.query(
    `select relname as name, relowner::regrole::text as owner,
       array_agg(attname::text order by attnum) filter (where attgenerated = '') as columns
     from pg_class join pg_attribute on attrelid = pg_class.oid
     where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'schema_migration'
       and attnum > 0 and not attisdropped
     group by relname, relowner order by relname`,
  )
  return rows
}
