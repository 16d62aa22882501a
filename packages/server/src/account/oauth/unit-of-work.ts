import { AsyncLocalStorage } from 'node:async_hooks'
import type pg from 'pg'
import { inTransaction, type Transaction } from '../../database/transaction.ts'

type Write = (tx: Transaction) => Promise<unknown>

const underWay = new AsyncLocalStorage<Write[]>()

/**
 * Gathers what a request to the authorization server writes, and writes it in one transaction at its end: a code is used up
 * if and only if its tokens are issued, at whatever moment the process is killed.
 */
export function gatherWrites<T>(db: pg.Pool, work: () => Promise<T>): Promise<T> {
  const writes: Write[] = []
  return underWay.run(writes, async () => {
    const result = await work()
    if (writes.length > 0)
      await inTransaction(db, async (tx) => {
        for (const write of writes) await write(tx)
      })
    return result
  })
}

/** Writes at the end of the request that it belongs to. */
export function writeLater(write: Write): void {
  const writes = underWay.getStore()
  if (!writes) throw new Error('Nothing gathers the writes of this request')
  writes.push(write)
}
