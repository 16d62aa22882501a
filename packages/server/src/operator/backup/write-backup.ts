import type { WriteStream } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { Encrypter } from 'age-encryption'
import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { oneConnection } from '../../database/pool.ts'
import { RefusedError } from '../command.ts'
import { type BackupHead, END_OF_ROWS, tablesOf, VERSION } from './backup-text.ts'

const NEW_LINE = 10

/** The contents of a backup, and whom it is for. */
export interface BackupOf {
  databaseUrl: string
  profile: string
  /** By the name of their file in the data folder. */
  secrets: Record<string, string>
  madeAt: Date
  /** Shown by the restore, as proof that it was done. */
  proof: string
  /** Public key of age (https://age-encryption.org/v1), `age1...`: only its private half opens the backup. */
  recipient: string
}

/** How much is in a backup. */
export interface BackupSize {
  tables: number
  rows: number
}

/**
 * Writes the database, as it is at one moment, and the secrets that belong to it: compressed, encrypted, and while the
 * service runs. Nothing of it is on the disk in plain.
 * @throws RefusedError for what is not an age public key
 */
export async function writeBackup(of: BackupOf, file: WriteStream): Promise<BackupSize> {
  const encrypter = encrypterFor(of.recipient)
  const client = oneConnection(of.databaseUrl)
  await client.connect()
  const size: BackupSize = { tables: 0, rows: 0 }
  try {
    await client.query('set statement_timeout = 0; begin isolation level repeatable read read only')
    const packed = Readable.from(linesOf(client, of, size)).pipe(createGzip())
    const encrypted = await encrypter.encrypt(Readable.toWeb(packed) as ReadableStream<Uint8Array>)
    await encrypted.pipeTo(Writable.toWeb(file))
    return size
  } finally {
    await client.end()
  }
}

function encrypterFor(recipient: string): Encrypter {
  const encrypter = new Encrypter()
  try {
    encrypter.addRecipient(recipient)
  } catch {
    throw new RefusedError(`${recipient} is not an age public key`)
  }
  return encrypter
}

async function* linesOf(client: pg.Client, of: BackupOf, size: BackupSize): AsyncGenerator<Buffer> {
  yield line(await headOf(client, of))
  for (const { name, columns } of await tablesOf(client)) {
    yield line({ table: name, columns })
    const names = columns.map((column) => pg.escapeIdentifier(column)).join(', ')
    const rows = client.query(copyTo(`copy ${pg.escapeIdentifier(name)} (${names}) to stdout`))
    for await (const part of rows as AsyncIterable<Buffer>) {
      for (const byte of part) if (byte === NEW_LINE) size.rows++
      yield part
    }
    yield Buffer.from(`${END_OF_ROWS}\n`)
    size.tables++
  }
  yield line({ ...size })
}

async function headOf(client: pg.Client, { profile, secrets, madeAt, proof }: BackupOf): Promise<BackupHead> {
  const migrations = await client.query<{ name: string; hash: string }>(
    'select name, hash from schema_migration order by name',
  )
  // Sequences of columns follow from the rows.
  const sequences = await client.query<{ name: string; value: string | null }>(
    `select sequencename as name, last_value::text as value from pg_sequences
     where schemaname = 'public' and not exists (
       select from pg_depend where objid = format('%I.%I', schemaname, sequencename)::regclass and deptype in ('a', 'i')
     )`,
  )
  return {
    format: 'coinrack backup',
    version: VERSION,
    made_at: madeAt.toISOString(),
    profile,
    proof,
    migrations: Object.fromEntries(migrations.rows.map(({ name, hash }) => [name, hash])),
    secrets,
    sequences: Object.fromEntries(
      sequences.rows.flatMap(({ name, value }) => (value === null ? [] : [[name, value]])),
    ),
  }
}

const line = (value: object) => Buffer.from(`${JSON.stringify(value)}\n`)
