import type { Handler } from '../dispatch/handler.ts'
import { listOf } from '../dispatch/resources.ts'
import { overLimit } from './check-limits.ts'
import { addMessage, insertTicket, readTicket } from './ticket-store.ts'

export const createTicket: Handler<'createTicket'> = async ({ input, caller, db, services, fail }) => {
  const { accountId } = caller
  const why = await overLimit(db, services, accountId, true)
  if (why !== undefined) throw fail('ticket_limit', why)
  if (input.service_id !== undefined) {
    const { rowCount } = await db.query('select from vps where id = $1 and account_id = $2', [
      input.service_id,
      accountId,
    ])
    if (rowCount === 0)
      throw fail('not_found', 'You have no service with this id', { nextSteps: listOf.service })
  }
  const id = services.newId('ticket')
  const at = services.clock.now()
  await insertTicket(db, {
    id,
    account_id: accountId,
    service_id: input.service_id ?? null,
    subject: input.subject,
    created_at: at,
  })
  await addMessage(db, id, { author: 'customer', body: input.body, created_at: at })
  return readTicket(db, id)
}
