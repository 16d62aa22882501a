import type { JudgedApproval } from '@coinrack/contract/approvals.ts'
import { formatUsd } from '@coinrack/contract/wire.ts'
import { burnPerHour, periodsAfter, type Recurring } from '@coinrack/money/index.ts'
import type { z } from 'zod'
import type { Queryable } from '../database/transaction.ts'
import type { ApprovalRow } from '../ledger/approval-store.ts'
import { type CustomerBalance, readBalance } from '../ledger/balance.ts'
import { lastsUntil } from '../ledger/balance-view.ts'
import type { Services } from '../platform/services.ts'
import { approvalView } from './read-approvals.ts'

type Judged = z.output<typeof JudgedApproval>

const DAY_MS = 86_400_000
/** A balance that lasts for less is worth a warning. */
const SHORT_DAYS = 7n

/** An approval with how long the balance lasts now and after it, and with its risk in plain words. */
export async function judgedApproval(db: Queryable, services: Services, row: ApprovalRow): Promise<Judged> {
  const now = services.clock.now()
  const balance = await readBalance(db, row.account_id)
  const { charges } = await services.ordering.summary(db, services, row.account_id)
  const { running } = await services.sandboxing.summary(db, row.account_id)
  const runway = (available: bigint, recurring: readonly Recurring[]) => ({
    balance: available,
    burn_per_hour: burnPerHour(recurring, running),
    runs_out_at: lastsUntil({ ...balance, available }, recurring, running, now) ?? null,
  })
  const after = runway(balance.available > row.price ? balance.available - row.price : 0n, [
    ...charges,
    ...afterwards(row, now),
  ])
  return {
    ...approvalView(services, row),
    now: runway(balance.available, charges),
    after,
    risk: riskOf(row, { balance, after, now }),
  }
}

/** What would renew itself from now on. */
function afterwards({ afterwards_price, afterwards_per }: ApprovalRow, now: Date): Recurring[] {
  if (afterwards_price === null) return []
  const cycle = afterwards_per === 'hour' ? 'hourly' : 'monthly'
  const next = periodsAfter(cycle, now, now, 1)[0]!.until
  return [{ cycle, price: afterwards_price, anchor: now, next }]
}

/** Pure: what a person should know before an approval, each a sentence. */
export function riskOf(
  row: ApprovalRow,
  { balance, after, now }: { balance: CustomerBalance; after: Judged['after']; now: Date },
): string[] {
  const { available, owed } = balance
  const risk: string[] = []
  if (owed > 0n) risk.push(`The account owes ${formatUsd(owed)} USD: nothing is charged before that is paid.`)
  else if (available < row.price)
    risk.push(
      `The balance of ${formatUsd(available)} USD does not cover it: without a top-up the call is refused even if you approve it.`,
    )
  if (row.afterwards_price !== null) {
    const each = row.afterwards_per === 'hour' ? 'each hour' : 'each month'
    risk.push(
      `It goes on to cost ${formatUsd(row.afterwards_price)} USD ${each} until it is cancelled. A renewal above a limit of its token is not made without you.`,
    )
  }
  const lasts = after.runs_out_at
  if (available >= row.price && lasts && lasts.getTime() - now.getTime() < Number(SHORT_DAYS) * DAY_MS)
    risk.push(
      `After it the balance lasts for less than ${SHORT_DAYS} days. What runs is suspended then, and deleted some days later.`,
    )
  const own = OWN_RISK[row.operation]
  if (own) risk.push(own)
  risk.push('The call that you approve can be made once, within 15 minutes, and for no more than this price.')
  return risk
}

const MACHINE = 'Who holds the token decides what runs on it.'

/** What is particular to some operations. */
const OWN_RISK: Partial<Record<ApprovalRow['operation'], string>> = {
  orderVps: MACHINE,
  payInvoice: MACHINE,
  createSandbox: MACHINE,
  forkSandbox: MACHINE,
  changePlan: 'The machine is restarted once, and cannot become smaller again.',
  restoreSnapshot: 'What came after the snapshot is lost.',
}
