import pg from 'pg'

// Counters and micro-USD are bigint columns: read as bigint, never as number.
pg.types.setTypeParser(pg.types.builtins.INT8, BigInt)

/** A pool of connections. Those that break are replaced; `onError` hears of the ones that were idle. */
export function openPool(url: string, options: { size: number; onError: (error: Error) => void }): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: options.size, idleTimeoutMillis: 60_000 })
  pool.on('error', options.onError)
  // One that breaks while somebody has it says so with the next statement; unheard, the event would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
