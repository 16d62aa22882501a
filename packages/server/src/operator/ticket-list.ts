import type { TicketRow } from '../support/ticket-store.ts'
import { type Command, RefusedError } from './command.ts'
import { table } from './table.ts'

const STATUSES = ['open', 'answered', 'closed']
const MOST_SHOWN = 200
const BODY_SHOWN = 80

export const ticketList: Command = {
  name: 'ticket list',
  arguments: `[--status ${STATUSES.join('|')}]`,
  summary: 'Tickets, the longest waiting first; without --status those that wait for a reply',
  takes: 0,
  options: { status: { type: 'string' } },
  async run(operator, _args, { status = 'open' }) {
    if (!STATUSES.includes(status)) throw new RefusedError(`--status is one of ${STATUSES.join(', ')}`)
    const db = await operator.db()
    const { rows } = await db.query<
      TicketRow & { email: string; messages: { author: string; body: string }[] }
    >(
      `select t.id, t.status, email, service_id, subject, rating, t.created_at, t.updated_at,
         (select jsonb_agg(jsonb_build_object('author', author, 'body', body, 'created_at', m.created_at) order by m.id)
          from ticket_message m where ticket_id = t.id) as messages
       from ticket t join account on account.id = account_id
       where t.status = $1 order by t.updated_at, t.id limit $2`,
      [status, MOST_SHOWN],
    )
    const shown = rows.map((row) => {
      const { author, body } = row.messages.at(-1)!
      return { ...row, last_message: `${author}: ${body}`.slice(0, BODY_SHOWN) }
    })
    return {
      json: rows,
      text: table(['id', 'status', 'email', 'service_id', 'subject', 'last_message'], shown),
    }
  },
}
