import type { Period } from '@coinrack/money/index.ts'
import type { Transaction } from '../../database/transaction.ts'
import { spendBudget } from '../../ledger/budget.ts'
import { post } from '../../ledger/post.ts'
import type { Asking } from '../../platform/approval-needed.ts'
import type { Services } from '../../platform/services.ts'
import type { VpsRow } from '../machine/vps-store.ts'
import { updateBilling } from './billing-store.ts'
import { cyclePrice } from './cycle-price.ts'
import { insertPeriods } from './period-store.ts'

export interface PeriodCharge {
  row: VpsRow
  periods: readonly Period[]
  /** The token whose budget it counts for; null: no budget. */
  tokenId: string | null
  /** The call that asks for it; undefined for a renewal in the background. */
  asking?: Asking | undefined
  /** The invoice that is paid. */
  invoiceId?: string | undefined
  /** The token by which the VPS renews itself, in the background. */
  renewerId?: string | null
}

/**
 * Charges periods that follow the paid time, or that begin it anew, and writes them down: in one transaction, under the
 * lock of the VPS. No period can be charged twice: the ledger takes its reference once.
 * @returns micro-USD
 * @throws InsufficientFunds
 * @throws OperationError `budget_exceeded`, `approval_needed`
 */
export async function chargePeriods(
  tx: Transaction,
  services: Services,
  { row, periods, tokenId, ...by }: PeriodCharge,
): Promise<bigint> {
  const price = cyclePrice(row)
  const amount = price * BigInt(periods.length)
  const { from } = periods[0]!
  const { until } = periods.at(-1)!
  const at = services.clock.now()
  await post(tx, {
    id: services.newId('transaction'),
    kind: 'charge',
    accountId: row.account_id,
    reference: `period:${row.id}:${from.toISOString()}`,
    description: `${row.hostname} (${row.product}), ${lengthOf(row.cycle, periods.length)} from ${minute(from)}`,
    postings: [{ from: 'customer.available', to: 'revenue.vps', amount }],
    at,
  })
  // The posting has locked the customer's balance.
  if (tokenId !== null) await spendBudget(tx, { tokenId, amount, at, ...by })
  await insertPeriods(tx, row.id, periods, price)
  await updateBilling(tx, row.id, { paid_until: until, noticed_days: null })
  return amount
}

/** `one month`, `3 months`, `one hour` */
export const lengthOf = (cycle: VpsRow['cycle'], count: number): string => {
  const unit = cycle === 'hourly' ? 'hour' : 'month'
  return count === 1 ? `one ${unit}` : `${count} ${unit}s`
}

/** For people, in UTC. */
export const minute = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
