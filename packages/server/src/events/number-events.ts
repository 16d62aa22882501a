import { announce } from '../database/changes.ts'
import { inTransaction } from '../database/transaction.ts'
import type { PassReport } from '../platform/pass-report.ts'
import type { Services } from '../platform/services.ts'
import { eventsOf } from './event-store.ts'
import { DELIVER_WEBHOOKS } from './webhooks/deliver-webhooks.ts'
import { insertDeliveries, wantedDeliveries } from './webhooks/webhook-store.ts'

const AT_ONCE = 500

/**
 * Gives committed events their numbers, account by account without gaps. One numberer runs at a time, and each sees all
 * that the one before it committed: so a client that has read up to a number has missed nothing before it, however the
 * transactions that wrote the events overlapped (docs/decisions/0100-events-are-numbered-after-the-commit.md). The
 * deliveries that webhooks want are written down in the same transaction. Takes no input; safe to run on any number of
 * replicas at once. Idle when there were no events.
 */
export async function numberEvents({ db, newId, clock }: Services): Promise<PassReport> {
  let done = 0
  for (;;) {
    const numbered = await inTransaction(db, async (tx) => {
      await tx.query(`select pg_advisory_xact_lock(hashtextextended('number-events', 0))`)
      // A statement of its own: what it sees begins after the lock was got.
      const { rows, rowCount } = await tx.query<{ id: string; account_id: string }>(NUMBER, [AT_ONCE])
      for (const accountId of new Set(rows.map((row) => row.account_id))) {
        await announce(tx, eventsOf(accountId))
      }
      if (rowCount === 0) return 0
      const wanted = await wantedDeliveries(
        tx,
        rows.map(({ id }) => id),
      )
      if (wanted.length > 0) {
        await insertDeliveries(
          tx,
          wanted.map((delivery) => ({ id: newId('delivery'), ...delivery })),
          clock.now(),
        )
        await announce(tx, DELIVER_WEBHOOKS)
      }
      return rowCount
    })
    done += numbered ?? 0
    if (numbered !== AT_ONCE) return { seen: done, done, failed: 0, isIdle: done === 0 }
  }
}

const NUMBER = `
with fresh as (
  select seq, account_id, row_number() over (partition by account_id order by seq) as nth
  from (select seq, account_id from event where position is null order by seq limit $1) unnumbered
), counted as (
  insert into event_counter (account_id, last)
  select account_id, count(*) from fresh group by account_id
  on conflict (account_id) do update set last = event_counter.last + excluded.last
  returning account_id, last
), sizes as (
  select account_id, count(*) as size from fresh group by account_id
)
update event set position = counted.last - sizes.size + fresh.nth
from fresh join counted using (account_id) join sizes using (account_id)
where event.seq = fresh.seq
returning event.id, event.account_id`
