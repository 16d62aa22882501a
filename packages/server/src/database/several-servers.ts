import pg from 'pg'

/*
 * A database whose URL names several servers, of which one at a time takes writes: a primary with its standbys, as
 * libpq reads it (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS). The driver itself
 * knows one server for each connection.
 */

const LOOK_MS = 2_000
/** PostgreSQL's `cannot_connect_now`. */
const CANNOT_CONNECT_NOW = '57P03'

/** The same URL once for each server that it names. */
export function serversOf(url: string): string[] {
  const parts = /^(\w+:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s.exec(url)
  if (!parts) return [url]
  const [, before, hosts, after] = parts as unknown as [string, string, string, string]
  return hosts.split(',').map((host) => before + host + after)
}

/** No server of the database takes writes at the moment. */
class NoPrimaryError extends Error {
  override name = 'NoPrimaryError'
  readonly code = CANNOT_CONNECT_NOW
}

/**
 * A class of connections to the server that takes writes. While connections hold, new ones go to the same server; after
 * one broke, all servers are asked first. One that was away and comes back as a primary, without knowing that another
 * has taken its place, is not believed: of two primaries the one that was promoted later has the higher timeline.
 */
export function clientOf(url: string): typeof pg.Client {
  const servers = serversOf(url)
  if (servers.length === 1) return pg.Client
  let primary: Promise<string> | undefined
  const forget = () => {
    primary = undefined
  }

  return class extends pg.Client {
    constructor(config?: string | pg.ClientConfig) {
      super({ ...(typeof config === 'object' ? config : {}), connectionString: servers[0]! })
      this.on('error', forget)
      this.on('end', forget)
    }

    override connect(): Promise<pg.Client>
    override connect(callback: ((error: Error) => void) | ((error: null, client: pg.Client) => void)): void
    override connect(
      callback?: ((error: Error) => void) | ((error: null, client: pg.Client) => void),
    ): Promise<pg.Client> | undefined {
      const connecting = this.connectToPrimary()
      if (!callback) return connecting
      const done = callback as (error: Error | null, client?: pg.Client) => void
      connecting.then((client) => done(null, client), done)
      return undefined
    }

    private async connectToPrimary(): Promise<pg.Client> {
      primary ??= findPrimary(servers)
      try {
        const { host, port } = new pg.Client({ connectionString: await primary })
        Object.assign(this, { host, port })
        return await super.connect()
      } catch (error) {
        forget()
        throw error
      }
    }
  }
}

async function findPrimary(servers: readonly string[]): Promise<string> {
  const reasons: string[] = []
  const looks = servers.map(async (server) => {
    try {
      const timeline = await timelineOf(server)
      if (timeline > 0) return [{ server, timeline }]
      reasons.push('one is a standby')
    } catch (error) {
      reasons.push((error as Error).message)
    }
    return []
  })
  const primaries = (await Promise.all(looks)).flat()
  const newest = primaries.toSorted((one, other) => other.timeline - one.timeline)[0]
  if (newest) return newest.server
  throw new NoPrimaryError(`No server of the database takes writes: ${reasons.join('; ')}`)
}

/** The timeline of a server that takes writes, 0 of a standby. */
async function timelineOf(server: string): Promise<number> {
  const client = new pg.Client({
    connectionString: server,
    connectionTimeoutMillis: LOOK_MS,
    query_timeout: LOOK_MS,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    // The name of a file of the log begins with its timeline, in hexadecimal digits.
    const { rows } = await client.query<{ timeline: string }>(
      `select case when pg_is_in_recovery() then '0' else left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`,
    )
    return Number.parseInt(rows[0]!.timeline, 16)
  } finally {
    void client.end().catch(() => {})
  }
}
