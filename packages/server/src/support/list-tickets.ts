import type { Handler } from '../dispatch/handler.ts'
import { pageOf } from '../dispatch/paging.ts'
import { ticketsOf } from './ticket-store.ts'

export const listTickets: Handler<'listTickets'> = async ({ input, caller, db }) => {
  const { limit, cursor, status } = input
  const rows = await ticketsOf(db, caller.accountId, { limit: limit + 1, before: cursor, status })
  return pageOf(rows, limit, (row) => row)
}
