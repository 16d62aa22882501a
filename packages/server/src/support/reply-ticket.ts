import type { Handler } from '../dispatch/handler.ts'
import { overLimit } from './check-limits.ts'
import { addMessage, lockTicket, readTicket } from './ticket-store.ts'

export const replyTicket: Handler<'replyTicket'> = async ({ input, caller, db, services, fail }) => {
  const id = input.ticket_id
  const { status } = (await lockTicket(db, id))!
  const why = await overLimit(db, services, caller.accountId, status === 'closed')
  if (why !== undefined) throw fail('ticket_limit', why)
  await addMessage(db, id, { author: 'customer', body: input.body, created_at: services.clock.now() })
  return readTicket(db, id)
}
