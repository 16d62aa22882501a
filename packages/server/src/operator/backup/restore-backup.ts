import { once } from 'node:events'
import type { ReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Decrypter } from 'age-encryption'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { ensureLedgerRole, LEDGER_ROLE, migrate, migrationNames } from '../../database/migrate.ts'
import { oneConnection } from '../../database/pool.ts'
import { RefusedError } from '../command.ts'
import { BackupEnd, BackupHead, END_OF_ROWS, type Table, TableHead, tablesOf } from './backup-text.ts'
import { proveBackup } from './proven-backup.ts'
import { readLines } from './read-lines.ts'
import type { BackupSize } from './write-backup.ts'

/** Rows are handed to PostgreSQL in pieces of about so many bytes. */
const PIECE = 256 * 1024

/** Where a backup goes. */
export interface RestoreTo {
  /** An unused database. */
  db: pg.Pool
  profile: string
  at: Date
  /** Private key of age, `AGE-SECRET-KEY-1...`. */
  identity: string
  /** Told the secrets before the rows are there for good. */
  keepSecrets(secrets: Record<string, string>): Promise<void>
}

/**
 * Brings an installation back from a backup: its schema as it was then, all rows in one transaction, the counters, and
 * then the migrations that came since. Books that do not balance are refused.
 * @throws RefusedError when the file is no whole backup of this profile that the key opens, or the database is not empty
 */
export async function restoreBackup(
  to: RestoreTo,
  file: ReadStream,
): Promise<BackupSize & { madeAt: string; proof: string }> {
  const lines = readLines(await plain(file, to.identity))
  const head = await headOf(lines, to)
  await demandEmpty(to.db)
  await migrate(to.db, { only: Object.keys(head.migrations) })

  const client = oneConnection(to.db.options.connectionString)
  await client.connect()
  try {
    await ensureLedgerRole(client)
    await client.query('set statement_timeout = 0; begin')
    const size = await fill(client, lines)
    await setCounters(client, head.sequences)
    await demandBooks(client)
    await to.keepSecrets(head.secrets)
    await client.query('commit')
    await migrate(to.db)
    await proveBackup(to.db, head.proof, to.at)
    return { ...size, madeAt: head.made_at, proof: head.proof }
  } finally {
    await client.end()
  }
}

/** The lines of the backup, decrypted and unpacked as they are read. */
async function plain(file: ReadStream, identity: string): Promise<AsyncIterable<Uint8Array>> {
  const decrypter = new Decrypter()
  try {
    decrypter.addIdentity(identity)
  } catch (error) {
    throw new RefusedError(`The identity is not an age private key: ${(error as Error).message}`)
  }
  try {
    const packed = await decrypter.decrypt(Readable.toWeb(file) as ReadableStream<Uint8Array>)
    return refusing(Readable.fromWeb(packed as never).compose(createGunzip()))
  } catch (error) {
    throw notOpened(error as Error)
  }
}

/** A file that breaks off or was changed is no backup. */
async function* refusing(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* parts
  } catch (error) {
    throw notOpened(error as Error)
  }
}

const notOpened = (error: Error) =>
  new RefusedError(`The file is not a whole backup that this key opens: ${error.message}`)

async function headOf(lines: AsyncGenerator<Buffer>, { profile }: RestoreTo): Promise<BackupHead> {
  const head = read(BackupHead, await nextLine(lines))
  if (head.profile !== profile)
    throw new RefusedError(
      `The backup is of the ${head.profile} profile, and COINRACK_PROFILE is ${profile} here`,
    )
  const known = new Set(await migrationNames())
  const unknown = Object.keys(head.migrations).filter((name) => !known.has(name))
  if (unknown.length > 0)
    throw new RefusedError(`The backup is of a newer version, which knows ${unknown.join(', ')}`)
  return head
}

/** A schema without rows is what a restore leaves that was killed. */
async function demandEmpty(db: pg.Pool): Promise<void> {
  for (const { name } of await tablesOf(db)) {
    const { rowCount } = await db.query(`select from ${pg.escapeIdentifier(name)} limit 1`)
    if (rowCount)
      throw new RefusedError(`The database is in use: its table ${name} has rows. Restore into an empty one`)
  }
}

/** Fills all tables. Keys to other tables are looked at once all rows are there. */
async function fill(client: pg.Client, lines: AsyncGenerator<Buffer>): Promise<BackupSize> {
  const tables = new Map((await tablesOf(client)).map((table) => [table.name, table]))
  const { rows: keys } = await client.query<ForeignKey>(
    `select conrelid::regclass::text as of, conname as name, pg_get_constraintdef(pg_constraint.oid) as definition,
       relowner::regrole::text as owner
     from pg_constraint join pg_class on pg_class.oid = conrelid
     where contype = 'f' and connamespace = 'public'::regnamespace`,
  )
  const alter = ({ of, owner }: ForeignKey, what: string) =>
    as(client, owner, () => client.query(`alter table ${of} ${what}`))
  for (const key of keys) await alter(key, `drop constraint ${pg.escapeIdentifier(key.name)}`)

  const size: BackupSize = { tables: 0, rows: 0 }
  for (;;) {
    const next = await nextLine(lines)
    const end = BackupEnd.safeParse(parse(next))
    if (end.success) {
      if (end.data.tables !== size.tables || end.data.rows !== size.rows)
        throw new RefusedError('The backup does not have all the rows that it speaks of')
      break
    }
    const { table, columns } = read(TableHead, next)
    const known = tables.get(table)
    if (!known) throw new RefusedError(`The backup has a table ${table} that its schema lacks`)
    size.rows += await as(client, known.owner, () => fillTable(client, known, columns, lines))
    size.tables++
  }
  for (const key of keys)
    await alter(key, `add constraint ${pg.escapeIdentifier(key.name)} ${key.definition}`)
  return size
}

interface ForeignKey {
  of: string
  name: string
  definition: string
  owner: string
}

async function fillTable(
  client: pg.Client,
  { name }: Table,
  columns: string[],
  lines: AsyncGenerator<Buffer>,
): Promise<number> {
  const names = columns.map((column) => pg.escapeIdentifier(column)).join(', ')
  const copy = client.query(copyFrom(`copy ${pg.escapeIdentifier(name)} (${names}) from stdin`))
  const failed = once(copy, 'error').then(([error]) => Promise.reject(error))
  failed.catch(() => {})
  let rows = 0
  let piece: Buffer[] = []
  let bytes = 0
  const flush = async () => {
    const text = Buffer.concat(piece)
    piece = []
    bytes = 0
    if (!copy.write(text)) await Promise.race([once(copy, 'drain'), failed])
  }
  for (;;) {
    const line = await nextLine(lines)
    if (line.equals(Buffer.from(END_OF_ROWS))) break
    piece.push(line, Buffer.from('\n'))
    bytes += line.length + 1
    rows++
    if (bytes > PIECE) await flush()
  }
  if (bytes > 0) await flush()
  copy.end()
  await Promise.race([once(copy, 'finish'), failed])
  return rows
}

/**
 * Does something as the owner of a table. What is written to the ledger was looked at when it was posted; all of it is
 * summed up at the end.
 */
async function as<T>(client: pg.Client, owner: string, what: () => Promise<T>): Promise<T> {
  if (owner !== LEDGER_ROLE) return what()
  await client.query(`set local role ${LEDGER_ROLE}`)
  await client.query(`select set_config('coinrack.posting', 'on', true)`)
  const result = await what()
  await client.query('set local role none')
  return result
}

async function setCounters(client: pg.Client, sequences: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries(sequences))
    await client.query('select setval($1::regclass, $2)', [`public.${pg.escapeIdentifier(name)}`, value])
  const { rows } = await client.query<{ table: string; column: string; owner: string }>(
    `select relname as table, attname as column, relowner::regrole::text as owner
     from pg_class join pg_attribute on attrelid = pg_class.oid
     where relnamespace = 'public'::regnamespace and relkind = 'r'
       and case when attnum > 0 and not attisdropped
         then pg_get_serial_sequence(format('%I.%I', 'public', relname), attname) end is not null`,
  )
  for (const { table, column, owner } of rows) {
    const newest = `max(${pg.escapeIdentifier(column)})`
    const set = `select setval(pg_get_serial_sequence($1, $2), ${newest}) from ${pg.escapeIdentifier(table)} having ${newest} is not null`
    await as(client, owner, () => client.query(set, [`public.${pg.escapeIdentifier(table)}`, column]))
  }
}

async function demandBooks(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ wrong: string }>(
    `select transaction_id as wrong from ledger_entry group by transaction_id having sum(amount) <> 0
     union all
     select balance.account_id from customer_balance balance
     left join (
       select account_id,
         sum(amount) filter (where ledger_account = 'customer.available') as available,
         sum(amount) filter (where ledger_account = 'customer.held') as held,
         sum(amount) filter (where ledger_account = 'customer.owed') as owed
       from ledger_transaction join ledger_entry on transaction_id = id group by account_id
     ) entries using (account_id)
     where (balance.available, balance.held, balance.owed)
       <> (coalesce(entries.available, 0), coalesce(entries.held, 0), coalesce(entries.owed, 0))
     limit 1`,
  )
  if (rows[0]) throw new RefusedError(`The books of the backup do not balance: ${rows[0].wrong}`)
}

async function nextLine(lines: AsyncGenerator<Buffer>): Promise<Buffer> {
  const { value, done } = await lines.next()
  if (done) throw new RefusedError('The backup ends too early')
  return value
}

function parse(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString())
  } catch {
    return undefined
  }
}

function read<T>(
  shape: { safeParse(value: unknown): { success: true; data: T } | { success: false } },
  line: Buffer,
): T {
  const result = shape.safeParse(parse(line))
  if (!result.success) throw new RefusedError('The file is not a backup that this version can read')
  return result.data
}
