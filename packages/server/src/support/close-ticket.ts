import type { Handler } from '../dispatch/handler.ts'
import { closeTicketRow, readTicket } from './ticket-store.ts'

export const closeTicket: Handler<'closeTicket'> = async ({ input, db, services }) => {
  await closeTicketRow(db, input.ticket_id, services.clock.now(), input.rating ?? null)
  return readTicket(db, input.ticket_id)
}
