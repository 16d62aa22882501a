import type pg from 'pg'
import { EVERYTHING } from '../platform/everything.ts'
import { clientOf } from './several-servers.ts'
import type { Queryable } from './transaction.ts'

const CHANNEL = 'coinrack_change'
const RECONNECT_MS = 1_000
const CONNECT_MS = 10_000

/** Notifies waiting calls on any replica that something changed; the topic is the id of the changed thing. */
export interface Changes {
  /**
   * Resolves when the topic changes, or after `timeoutMs`. The caller must then read the changed thing again.
   * @param gone ends the wait when it aborts
   * @returns false when the service is closing or the wait was ended: do not wait again
   */
  wait(topic: string, timeoutMs: number, gone?: AbortSignal): Promise<boolean>
  /** Calls back on every change of every topic, and with `EVERYTHING` when changes may have been missed. */
  subscribe(listener: (topic: string) => void): () => void
  close(): Promise<void>
}

/** Announces a change; inside a transaction, the announcement is sent at its commit. */
export async function announce(db: Queryable, topic: string): Promise<void> {
  await db.query('select pg_notify($1, $2)', [CHANNEL, topic])
}

/** Listens on a separate connection, and opens a new one when that breaks. */
export async function listenForChanges(url: string, onError: (error: Error) => void): Promise<Changes> {
  const Client = clientOf(url)
  const listeners = new Set<(topic: string) => void>()
  let closed = false
  let connections = 0
  let client: pg.Client

  async function connect(): Promise<void> {
    const opened = new Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
    })
    client = opened
    opened.on('notification', ({ payload }) => {
      for (const listener of [...listeners]) listener(payload ?? '')
    })
    opened.on('error', onError)
    // Only once for each connection, regardless of how many errors it had.
    opened.once('end', reconnect)
    try {
      await opened.connect()
      await opened.query(`listen ${CHANNEL}`)
      if (connections++ > 0) for (const listener of [...listeners]) listener(EVERYTHING)
    } catch (error) {
      await opened.end()
      throw error
    }
  }
  function reconnect() {
    if (closed) return
    setTimeout(() => {
      if (!closed) connect().catch((error) => closed || onError(error))
    }, RECONNECT_MS).unref()
  }
  await connect().catch((error) => {
    closed = true
    throw error
  })

  const subscribe: Changes['subscribe'] = (listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  return {
    subscribe,
    wait: (topic, timeoutMs, gone) =>
      new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer)
          unsubscribe()
          gone?.removeEventListener('abort', done)
          resolve(!closed && !gone?.aborted)
        }
        const timer = setTimeout(done, timeoutMs)
        const unsubscribe = subscribe((changed) => {
          if (changed === topic || changed === EVERYTHING || closed) done()
        })
        gone?.addEventListener('abort', done)
        if (closed || gone?.aborted) done()
      }),
    async close() {
      closed = true
      for (const listener of [...listeners]) listener('')
      await client.end()
    },
  }
}

/**
 * Reads until the value reaches the expected state or the time is over: a long poll.
 * @param seconds the longest time to wait
 * @param gone ends the wait when it aborts
 * @returns the last value that was read
 */
export async function readUntil<T>(
  changes: Changes,
  topic: string,
  seconds: number,
  read: () => Promise<T>,
  reached: (value: T) => boolean,
  gone?: AbortSignal,
): Promise<T> {
  const end = performance.now() + seconds * 1000
  for (;;) {
    // Listening starts before the read, so that a change between the two is not missed.
    const left = end - performance.now()
    const changed = left > 0 ? changes.wait(topic, left, gone) : undefined
    const value = await read()
    if (reached(value) || !changed || !(await changed)) return value
  }
}
