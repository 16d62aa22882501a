import type { Handler } from '../dispatch/handler.ts'
import { readTicket } from './ticket-store.ts'

export const getTicket: Handler<'getTicket'> = ({ input, db }) => readTicket(db, input.ticket_id)
