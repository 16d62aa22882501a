import type { Queryable, Transaction } from '../database/transaction.ts'

export interface PortRow {
  sandbox_id: string
  port: number
  access: 'public' | 'token'
  nonce: Buffer
  created_at: Date
}

const COLUMNS = 'sandbox_id, port, access, nonce, created_at'

/** Exposes a port, or changes who may use one that is exposed. */
export async function putPort(tx: Transaction, row: PortRow): Promise<PortRow> {
  const { rows } = await tx.query<PortRow>(
    `insert into sandbox_port (${COLUMNS}) values ($1, $2, $3, $4, $5)
     on conflict (sandbox_id, port) do update set access = excluded.access returning ${COLUMNS}`,
    [row.sandbox_id, row.port, row.access, row.nonce, row.created_at],
  )
  return rows[0]!
}

export async function portsOf(db: Queryable, sandboxId: string): Promise<PortRow[]> {
  const { rows } = await db.query<PortRow>(
    `select ${COLUMNS} from sandbox_port where sandbox_id = $1 order by port`,
    [sandboxId],
  )
  return rows
}

export async function removePort(tx: Transaction, sandboxId: string, port: number): Promise<void> {
  await tx.query('delete from sandbox_port where sandbox_id = $1 and port = $2', [sandboxId, port])
}

export async function portOf(db: Queryable, sandboxId: string, port: number): Promise<PortRow | undefined> {
  const { rows } = await db.query<PortRow>({
    name: 'sandbox_port',
    text: `select ${COLUMNS} from sandbox_port where sandbox_id = $1 and port = $2`,
    values: [sandboxId, port],
  })
  return rows[0]
}
