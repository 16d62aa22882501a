import type { Transaction } from '../database/transaction.ts'

/** Any number: whoever places a machine or a sandbox holds it until that is written down. */
const PLACEMENT_LOCK = 7_266_343

/** Places one at a time, on all replicas, until the transaction ends. */
export async function lockPlacement(tx: Transaction): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [PLACEMENT_LOCK])
}
