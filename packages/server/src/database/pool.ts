import pg from 'pg'

// Counters and micro-USD are bigint columns: read as bigint, never as number.
pg.types.setTypeParser(pg.types.builtins.INT8, BigInt)

/** A pool of connections. Idle connections that break are replaced, not fatal. */
export function openPool(url: string, options: { size: number; onError: (error: Error) => void }): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: options.size, idleTimeoutMillis: 60_000 })
  pool.on('error', options.onError)
  return pool
}
