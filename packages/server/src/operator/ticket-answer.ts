import { inTransaction, type Transaction } from '../database/transaction.ts'
import { queueMail } from '../platform/queue-mail.ts'
import { recordEvent } from '../platform/record-event.ts'
import { addMessage, closeTicketRow, lockTicket, type TicketRow } from '../support/ticket-store.ts'
import { type Command, type Operator, RefusedError } from './command.ts'

const LONGEST = 8000

/** The customer hears of it by event, and so by webhook, and by mail; the service sends both. */
export const ticketReply: Command = {
  name: 'ticket reply',
  arguments: '<id> <text>',
  summary: 'Writes to the customer, who is told by event and by mail',
  takes: 2,
  async run(operator, [id, given]) {
    const body = given!.trim()
    if (body === '' || body.length > LONGEST)
      throw new RefusedError(`The text has 1 to ${LONGEST} characters`)
    await change(operator, id!, async (tx, ticket) => {
      await addMessage(tx, ticket.id, { author: 'operator', body, created_at: operator.clock.now() })
      await recordEvent(tx, operator, ticket.account_id, 'ticket.replied', {
        ticket_id: ticket.id,
        subject: ticket.subject,
      })
      await mailTo(
        tx,
        operator,
        ticket,
        `${body}\n\nAnswer with reply_ticket, or POST to the replies of the ticket.\n`,
      )
    })
    return { json: { id, status: 'answered' }, text: `${id} is answered` }
  },
}

export const ticketClose: Command = {
  name: 'ticket close',
  arguments: '<id>',
  summary: 'Closes a ticket; the customer is told, and may write again',
  takes: 1,
  async run(operator, [id]) {
    await change(operator, id!, async (tx, ticket) => {
      if (ticket.status === 'closed') return
      await closeTicketRow(tx, ticket.id, operator.clock.now(), null)
      await recordEvent(tx, operator, ticket.account_id, 'ticket.closed', {
        ticket_id: ticket.id,
        subject: ticket.subject,
      })
      await mailTo(tx, operator, ticket, 'The ticket is closed. Writing to it opens it again.\n')
    })
    return { json: { id, status: 'closed' }, text: `${id} is closed` }
  },
}

async function change(
  operator: Operator,
  id: string,
  work: (tx: Transaction, ticket: TicketRow) => Promise<void>,
): Promise<void> {
  await inTransaction(await operator.db(), async (tx) => {
    const ticket = await lockTicket(tx, id)
    if (!ticket) throw new RefusedError(`There is no ticket ${id}`)
    await work(tx, ticket)
  })
}

async function mailTo(tx: Transaction, { clock }: Operator, ticket: TicketRow, text: string): Promise<void> {
  const { rows } = await tx.query<{ email: string | null }>('select email from account where id = $1', [
    ticket.account_id,
  ])
  await queueMail(
    tx,
    { clock },
    { to: rows[0]!.email, subject: `Re: ${ticket.subject} [${ticket.id}]`, text },
  )
}
