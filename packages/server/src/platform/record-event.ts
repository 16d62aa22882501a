import { type EventData, type EventType, eventTypes } from '@coinrack/contract/events.ts'
import { z } from 'zod'
import { announce } from '../database/changes.ts'
import type { Transaction } from '../database/transaction.ts'
import type { Services } from './services.ts'

/** Announced when events were committed that have no number yet. */
export const NEW_EVENTS = 'new-events'

/**
 * Writes down what happens to an account, in the transaction in which it happens: it is told, by list, stream and
 * webhook, if and only if that is committed. Takes no lock that another writer waits for.
 */
export async function recordEvent<T extends EventType>(
  tx: Transaction,
  { newId, clock }: Pick<Services, 'newId' | 'clock'>,
  accountId: string,
  type: T,
  data: EventData<T>,
): Promise<string> {
  const id = newId('event')
  await tx.query('insert into event (id, account_id, type, data, created_at) values ($1, $2, $3, $4, $5)', [
    id,
    accountId,
    type,
    z.encode(eventTypes[type] as z.ZodType<unknown, unknown>, data),
    clock.now(),
  ])
  await announce(tx, NEW_EVENTS)
  return id
}
