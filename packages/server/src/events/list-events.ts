import type { Handler } from '../dispatch/handler.ts'
import { eventsAfter, eventsOf } from './event-store.ts'
import { numberEvents } from './number-events.ts'

export const listEvents: Handler<'listEvents'> = async ({ input, caller, db, services, until }) => {
  const { limit, timeout } = input
  const after = Number(input.cursor ?? 0)
  const { accountId } = caller
  const read = async () => {
    const { rows } = await db.query<{ some: boolean }>(
      'select exists (select from event where account_id = $1 and position is null) as some',
      [accountId],
    )
    // A caller who asks after a change sees it, also before the background had its turn.
    if (rows[0]!.some) await numberEvents(services)
    return eventsAfter(db, accountId, after, limit + 1)
  }
  const found =
    timeout > 0
      ? await until(eventsOf(accountId), timeout, read, (events) => events.length > 0)
      : await read()
  const items = found.slice(0, limit)
  return found.length > limit ? { items, nextCursor: String(items.at(-1)!.position) } : { items }
}
