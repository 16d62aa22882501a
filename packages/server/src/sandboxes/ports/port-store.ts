import type { Queryable, Transaction } from '../../database/transaction.ts'

export interface PortRow {
  sandbox_id: string
  port: number
  access: 'public' | 'token'
  nonce: Buffer
  created_at: Date
  /** Why the operator took it off. */
  blocked: string | null
}

const PORTS = `select port.sandbox_id, port.port, port.access, port.nonce, port.created_at, block.reason as blocked
  from sandbox_port port left join preview_block block using (sandbox_id, port)`

/** Exposes a port, or changes who may use one that is exposed. */
export async function putPort(tx: Transaction, row: Omit<PortRow, 'blocked'>): Promise<PortRow> {
  await tx.query(
    `insert into sandbox_port (sandbox_id, port, access, nonce, created_at) values ($1, $2, $3, $4, $5)
     on conflict (sandbox_id, port) do update set access = excluded.access`,
    [row.sandbox_id, row.port, row.access, row.nonce, row.created_at],
  )
  const { rows } = await tx.query<PortRow>(`${PORTS} where port.sandbox_id = $1 and port.port = $2`, [
    row.sandbox_id,
    row.port,
  ])
  return rows[0]!
}

export async function portsOf(db: Queryable, sandboxId: string): Promise<PortRow[]> {
  const { rows } = await db.query<PortRow>(`${PORTS} where port.sandbox_id = $1 order by port.port`, [
    sandboxId,
  ])
  return rows
}

export async function removePort(tx: Transaction, sandboxId: string, port: number): Promise<void> {
  await tx.query('delete from sandbox_port where sandbox_id = $1 and port = $2', [sandboxId, port])
}

/** What lets visitors reach a port: that it was exposed, or that all are. */
export interface ReachablePort extends Pick<PortRow, 'sandbox_id' | 'access' | 'nonce'> {
  /** Null: all ports of the sandbox are. */
  port: number | null
}

/** A port that visitors may reach: exposed, not taken off by the operator, and of an account that is not suspended. */
export async function reachablePort(
  db: Queryable,
  sandboxId: string,
  port: number,
): Promise<ReachablePort | undefined> {
  const { rows } = await db.query<ReachablePort>({
    name: 'sandbox_port',
    text: `select sandbox.id as sandbox_id, port.port, coalesce(port.access, sandbox.open_ports) as access,
        case when port.port is null then sandbox.open_ports_nonce else port.nonce end as nonce
      from sandbox join account on account.id = sandbox.account_id
      left join sandbox_port port on port.sandbox_id = sandbox.id and port.port = $2
      left join preview_block block on block.sandbox_id = sandbox.id and block.port = $2
      where sandbox.id = $1 and (port.port is not null or sandbox.open_ports is not null) and block.reason is null
        and account.suspended_at is null`,
    values: [sandboxId, port],
  })
  return rows[0]
}

/** Exposes all ports of a sandbox, or no longer. A token that was given out stays what it was while they are exposed. */
export async function putAllPorts(
  tx: Transaction,
  sandboxId: string,
  access: PortRow['access'] | null,
  nonce: Buffer,
): Promise<Buffer> {
  const { rows } = await tx.query<{ nonce: Buffer }>(
    `update sandbox set open_ports = $2,
       open_ports_nonce = case when open_ports is null then $3 else open_ports_nonce end
     where id = $1 returning open_ports_nonce as nonce`,
    [sandboxId, access, nonce],
  )
  return rows[0]!.nonce
}

/** Why the operator took a port off; undefined when it did not. */
export async function blockOf(db: Queryable, sandboxId: string, port: number): Promise<string | undefined> {
  const { rows } = await db.query<{ reason: string }>(
    'select reason from preview_block where sandbox_id = $1 and port = $2',
    [sandboxId, port],
  )
  return rows[0]?.reason
}
