import { formatUsd } from '@coinrack/contract/wire.ts'
import { inTransaction, type Transaction } from '../database/transaction.ts'
import { lockBalance } from '../ledger/balance.ts'
import { balanceNow, lastsUntil } from '../ledger/balance-view.ts'
import { queueMail } from '../platform/queue-mail.ts'
import { recordEvent } from '../platform/record-event.ts'
import type { Services } from '../platform/services.ts'
import { type Outlook, planLowBalance, thresholdOf } from './low-balance.ts'
import {
  allTold,
  balancesOf,
  forgetTold,
  insertTold,
  type LowBalanceRow,
  toldOf,
  updateTold,
} from './low-balance-store.ts'

const HOUR_MS = 3_600_000
/** After this a threshold can be told again although no money came. */
const REARMED_MS = 24 * HOUR_MS

/**
 * Tells each account whose balance will not cover what renews itself and what runs much longer, once for each threshold that it
 * crosses, and again after money came. Takes no input; may be killed at any step and run on any number of replicas: what
 * was told is written down with the event and the mail, under the lock of the balance.
 */
export async function notifyLowBalances(services: Services): Promise<void> {
  const { db, clock, config, ordering, sandboxing, log } = services
  const now = clock.now()
  const longest = config.lowBalanceHours[0] ?? 0
  const charges = await ordering.chargesOfThoseDue(db, services, new Date(now.getTime() + longest * HOUR_MS))
  const running = await sandboxing.running(db)
  const told = new Map((await allTold(db)).map((row) => [row.account_id, row]))
  const balances = await balancesOf(db, [...new Set([...charges.keys(), ...running.keys(), ...told.keys()])])
  for (const { account_id, ...balance } of balances) {
    const row = told.get(account_id)
    const runsOutAt = lastsUntil(balance, charges.get(account_id) ?? [], running.get(account_id) ?? [], now)
    if (!isNews(services, row, runsOutAt)) continue
    try {
      await inTransaction(db, (tx) => tellOne(tx, services, account_id))
    } catch (error) {
      log.error({ err: error, account: account_id }, 'Telling of a low balance failed; it is tried again')
    }
  }
}

const outlookOf = (
  { clock }: Services,
  row: LowBalanceRow | undefined,
  runsOutAt: Date | undefined,
): Outlook => ({
  told: row?.told_hours,
  rearmed: row !== undefined && (row.credited || clock.now().getTime() - row.told_at.getTime() >= REARMED_MS),
  runsOutAt,
})

/** Until when the balance lasts, where an answer has to say so. */
const shownEnd = ({ clock, config }: Services, runsOutAt: Date | undefined): Date | null =>
  thresholdOf(runsOutAt, config.lowBalanceHours, clock.now()) === undefined ? null : runsOutAt!

function isNews(services: Services, row: LowBalanceRow | undefined, runsOutAt: Date | undefined): boolean {
  const { do: step } = planLowBalance(
    outlookOf(services, row, runsOutAt),
    services.config.lowBalanceHours,
    services.clock.now(),
  )
  const isShown = row?.runs_out_at?.getTime() === shownEnd(services, runsOutAt)?.getTime()
  return step !== 'nothing' || (row !== undefined && !isShown)
}

/** Decided again under the lock of the balance: of two replicas the second one finds it told. */
async function tellOne(tx: Transaction, services: Services, accountId: string): Promise<void> {
  const { clock, config, ordering, sandboxing } = services
  const now = clock.now()
  const balance = await lockBalance(tx, accountId)
  const { charges } = await ordering.summary(tx, services, accountId)
  const { running } = await sandboxing.summary(tx, accountId)
  const runsOutAt = lastsUntil(balance, charges, running, now)
  const row = await toldOf(tx, accountId)
  const step = planLowBalance(outlookOf(services, row, runsOutAt), config.lowBalanceHours, now)
  const runs_out_at = shownEnd(services, runsOutAt)
  if (step.do === 'tell') {
    await insertTold(tx, { account_id: accountId, told_hours: step.hours, told_at: now, runs_out_at })
    await notifyOwner(tx, services, accountId, { hours: step.hours, runsOutAt: runsOutAt! })
  } else if (step.do === 'rearm' && step.hours === undefined) {
    await forgetTold(tx, accountId)
  } else if (row) {
    const told_hours = step.do === 'rearm' ? step.hours! : row.told_hours
    await updateTold(tx, accountId, { told_hours, runs_out_at })
  }
}

async function notifyOwner(
  tx: Transaction,
  services: Services,
  accountId: string,
  { hours, runsOutAt }: { hours: number; runsOutAt: Date },
): Promise<void> {
  const now = await balanceNow(tx, services, accountId)
  await recordEvent(tx, services, accountId, 'balance.low', {
    ...now,
    runs_out_at: runsOutAt,
    threshold_hours: hours,
  })
  const { rows } = await tx.query<{ email: string | null }>('select email from account where id = $1', [
    accountId,
  ])
  const end = `${runsOutAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  await queueMail(tx, services, {
    to: rows[0]!.email,
    subject: `Your balance runs out within ${hours} hours`,
    text: `Your balance at ${services.config.publicUrl} is ${formatUsd(now.balance)} USD. It does not cover what renews itself and what runs at ${end}: then VPS are suspended and sandboxes end.

To keep them running, call topup_balance. All of it costs ${formatUsd(now.burn_per_hour)} USD in an average hour; set_auto_renew ends that of a service, kill_sandbox that of a sandbox.
`,
  })
}
