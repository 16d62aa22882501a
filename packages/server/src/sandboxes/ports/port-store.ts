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

/** A port that visitors may reach: exposed, not taken off by the operator, and of an account that is not suspended. */
export async function reachablePort(
  db: Queryable,
  sandboxId: string,
  port: number,
): Promise<PortRow | undefined> {
  const { rows } = await db.query<PortRow>({
    name: 'sandbox_port',
    text: `${PORTS} join sandbox on sandbox.id = port.sandbox_id join account on account.id = sandbox.account_id
      where port.sandbox_id = $1 and port.port = $2 and block.reason is null and account.suspended_at is null`,
    values: [sandboxId, port],
  })
  return rows[0]
}

/** Why the operator took a port off; undefined when it did not. */
export async function blockOf(db: Queryable, sandboxId: string, port: number): Promise<string | undefined> {
  const { rows } = await db.query<{ reason: string }>(
    'select reason from preview_block where sandbox_id = $1 and port = $2',
    [sandboxId, port],
  )
  return rows[0]?.reason
}
