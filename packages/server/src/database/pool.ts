import pg from 'pg'
import type { Slots } from '../platform/slots.ts'
import { clientOf } from './several-servers.ts'

// Counters and micro-USD are bigint columns: read as bigint, never as number.
pg.types.setTypeParser(pg.types.builtins.INT8, BigInt)

/** How long to wait for a connection, whether for a new one or for one that is returned to the pool. */
const CONNECTION_MS = 5_000
/** PostgreSQL cancels a statement that takes longer than this, time waiting for locks included. */
const STATEMENT_MS = 30_000
/** The timeout for a server that no longer answers at all. */
const SILENCE_MS = STATEMENT_MS + 5_000
/** The longest that an idle transaction, such as one whose code has stopped, keeps its locks. */
const IDLE_TRANSACTION_MS = 60_000

/** A pool of connections to the server that takes writes, of those that the URL names. Broken ones are replaced; `onError` is called for those that were idle. */
export function openPool(url: string, options: { size: number; onError: (error: Error) => void }): pg.Pool {
  const pool = new pg.Pool({
    Client: clientOf(url),
    connectionString: url,
    max: options.size,
    idleTimeoutMillis: 60_000,
    connectionTimeoutMillis: CONNECTION_MS,
    statement_timeout: STATEMENT_MS,
    query_timeout: SILENCE_MS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
    keepAlive: true,
  })
  pool.on('error', options.onError)
  // A connection that breaks in use fails its next statement; without a listener, the event would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** One connection beside the pool, not opened yet. When it breaks, the next statement fails. */
export function oneConnection(url: string | undefined): pg.Client {
  const client = new (clientOf(url ?? ''))({ connectionString: url })
  // Without a listener, the event would end the process.
  client.on('error', () => {})
  return client
}

/** The same pool for callers that may use only as many of its connections at once as there are slots. */
export function shareOf(pool: pg.Pool, slots: Slots): pg.Pool {
  const connect = async () => {
    const done = await slots.take()
    try {
      const client = await pool.connect()
      const release = client.release.bind(client)
      client.release = (broken) => {
        client.release = release
        release(broken)
        done()
      }
      return client
    } catch (error) {
      done()
      throw error
    }
  }
  const query = (...statement: Parameters<pg.Pool['query']>) =>
    slots.run(() => pool.query(...statement) as unknown as Promise<pg.QueryResult>)
  return { connect, query } as unknown as pg.Pool
}
