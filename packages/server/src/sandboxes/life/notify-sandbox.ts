import type { Transaction } from '../../database/transaction.ts'
import { recordEvent } from '../../platform/record-event.ts'
import type { Services } from '../../platform/services.ts'
import type { SandboxRow } from './sandbox-store.ts'

/*
 * The events that tell an account of its sandboxes, in the transaction that changes them.
 */

const about = ({ id, tariff, template, metadata }: SandboxRow) => ({
  sandbox_id: id,
  tariff,
  template,
  metadata,
})
const soFar = ({ reason, ran_ms, charged }: SandboxRow) => ({
  reason,
  seconds: Number(ran_ms) / 1000,
  cost: charged,
})

export const notifyStarted = (
  tx: Transaction,
  services: Services,
  row: SandboxRow,
  event: 'sandbox.started' | 'sandbox.resumed',
) => recordEvent(tx, services, row.account_id, event, about(row))

export const notifyPaused = (tx: Transaction, services: Services, row: SandboxRow) =>
  recordEvent(tx, services, row.account_id, 'sandbox.paused', { ...about(row), ...soFar(row) })

export const notifyEnded = (tx: Transaction, services: Services, row: SandboxRow) =>
  row.state === 'failed'
    ? recordEvent(tx, services, row.account_id, 'sandbox.failed', {
        ...about(row),
        failure: row.failure ?? 'It did not start',
      })
    : recordEvent(tx, services, row.account_id, 'sandbox.ended', { ...about(row), ...soFar(row) })
