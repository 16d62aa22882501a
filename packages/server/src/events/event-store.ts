import type { Event } from '@coinrack/contract/events.ts'
import type { z } from 'zod'
import type { Queryable } from '../database/transaction.ts'

export type EventView = z.output<typeof Event>

interface EventRow {
  id: string
  position: bigint
  type: string
  data: Record<string, unknown>
  created_at: Date
}

/** Announced when events of the account got their numbers. */
export const eventsOf = (accountId: string) => `events:${accountId}`

/** The events after a position, oldest first. */
export async function eventsAfter(
  db: Queryable,
  accountId: string,
  position: number,
  limit: number,
): Promise<EventView[]> {
  const { rows } = await db.query<EventRow>({
    name: 'events_after',
    text: `select id, position, type, data, created_at from event
      where account_id = $1 and position > $2 order by position limit $3`,
    values: [accountId, position, limit],
  })
  return rows.map(eventView)
}

/** The position of the newest event of an account; 0 before the first. */
export async function lastPosition(db: Queryable, accountId: string): Promise<number> {
  const { rows } = await db.query<{ last: bigint }>('select last from event_counter where account_id = $1', [
    accountId,
  ])
  return Number(rows[0]?.last ?? 0)
}

/** Forgets events that are older than so many days. Takes no other input; safe to run at any time. */
export async function forgetOldEvents(db: Queryable, now: Date, days: number): Promise<void> {
  await db.query(
    `delete from event where created_at < $1::timestamptz - make_interval(days => $2) and position is not null`,
    [now, days],
  )
}

const eventView = (row: EventRow): EventView => ({
  id: row.id,
  position: Number(row.position),
  type: row.type,
  timestamp: row.created_at,
  data: row.data,
})
