import type { Queryable, Transaction } from '../database/transaction.ts'

export interface TicketRow {
  id: string
  account_id: string
  service_id: string | null
  subject: string
  status: 'open' | 'answered' | 'closed'
  rating: number | null
  created_at: Date
  updated_at: Date
}

export interface TicketMessage {
  author: 'customer' | 'operator'
  body: string
  created_at: Date
}

const COLUMNS = 'id, account_id, service_id, subject, status, rating, created_at, updated_at'

/** Newest first, those before the `before` id. */
export async function ticketsOf(
  db: Queryable,
  accountId: string,
  page: { limit: number; before?: string; status?: string },
): Promise<TicketRow[]> {
  const { rows } = await db.query<TicketRow>(
    `select ${COLUMNS} from ticket
     where account_id = $1 and ($2::text is null or id < $2) and ($3::text is null or status = $3)
     order by id desc limit $4`,
    [accountId, page.before ?? null, page.status ?? null, page.limit],
  )
  return rows
}

/** The ticket, locked until the transaction ends; undefined when there is none. */
export async function lockTicket(tx: Transaction, id: string): Promise<TicketRow | undefined> {
  const { rows } = await tx.query<TicketRow>(`select ${COLUMNS} from ticket where id = $1 for update`, [id])
  return rows[0]
}

export async function insertTicket(
  tx: Transaction,
  row: Pick<TicketRow, 'id' | 'account_id' | 'service_id' | 'subject' | 'created_at'>,
): Promise<void> {
  await tx.query(
    'insert into ticket (id, account_id, service_id, subject, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)',
    [row.id, row.account_id, row.service_id, row.subject, row.created_at],
  )
}

/** Adds a message: it is the other side's turn. */
export async function addMessage(
  tx: Transaction,
  ticketId: string,
  { author, body, created_at }: TicketMessage,
): Promise<void> {
  await tx.query('insert into ticket_message (ticket_id, author, body, created_at) values ($1, $2, $3, $4)', [
    ticketId,
    author,
    body,
    created_at,
  ])
  await tx.query('update ticket set status = $2, updated_at = $3 where id = $1', [
    ticketId,
    author === 'operator' ? 'answered' : 'open',
    created_at,
  ])
}

export async function closeTicketRow(
  tx: Transaction,
  id: string,
  at: Date,
  rating: number | null,
): Promise<void> {
  await tx.query(
    `update ticket set status = 'closed', updated_at = $2, rating = coalesce($3, rating) where id = $1`,
    [id, at, rating],
  )
}

/** A ticket as its owner reads it, with its messages, oldest first. */
export async function readTicket(db: Queryable, id: string) {
  const { rows } = await db.query<TicketRow>(`select ${COLUMNS} from ticket where id = $1`, [id])
  const { rows: messages } = await db.query<TicketMessage>(
    'select author, body, created_at from ticket_message where ticket_id = $1 order by id',
    [id],
  )
  return { ...rows[0]!, messages }
}

/** The counts against an account's limits: its tickets that are not closed, and what it wrote since. */
export async function countOf(db: Queryable, accountId: string, since: Date) {
  const { rows } = await db.query<{ open: number; written: number }>(
    `select (select count(*)::int from ticket where account_id = $1 and status <> 'closed') as open,
       (select count(*)::int from ticket_message m join ticket t on t.id = ticket_id
        where account_id = $1 and author = 'customer' and m.created_at > $2) as written`,
    [accountId, since],
  )
  return rows[0]!
}
