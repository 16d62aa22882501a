import type { Handler } from '../handler.ts'
import { readTicket } from './ticket-store.ts'

export const getTicket: Handler<'getTicket'> = ({ input, db }) => readTicket(db, input.ticket_id)
