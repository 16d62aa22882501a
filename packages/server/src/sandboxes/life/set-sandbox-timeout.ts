import { announce } from '../../database/changes.ts'
import type { Call, Handler } from '../../dispatch/handler.ts'
import { takeApproval } from '../../ledger/approval.ts'
import { lockBalance } from '../../ledger/balance.ts'
import { countSpending, holdersOf } from '../../ledger/budget.ts'
import { askingToRun, costUntilTimeout, heldUnapproved } from './approved-cost.ts'
import { type SandboxRow, sandboxById, updateSandbox } from './sandbox-store.ts'
import { sandboxView, shownState } from './sandbox-view.ts'
import { stateRefusal } from './state-refusal.ts'

/** A longer timeout lets a sandbox cost more, which a person may have to approve. */
export const setSandboxTimeout: Handler<'setSandboxTimeout'> = async (call) => {
  const { input, caller, db, services, fail } = call
  const { sandbox_id: id, timeout, idle_timeout: idle } = input
  // Under this lock its state and what it costs stay as they are.
  await lockBalance(db, caller.accountId)
  const row = await sandboxById(db, id)
  const state = shownState(row)
  if (state !== 'running' && state !== 'paused') fail('sandbox_not_running', ...stateRefusal(id, state))
  const now = services.clock.now().getTime()
  const usedAt = row.idle_at ? row.idle_at.getTime() - row.idle_s * 1000 : now
  const runs = state === 'running'
  const isLonger = runs && timeout !== undefined && now + timeout * 1000 > row.expires_at.getTime()
  const changed = await updateSandbox(db, id, {
    ...(isLonger && { approved: await approveLonger(call, row, timeout) }),
    timeout_s: timeout ?? row.timeout_s,
    idle_s: idle ?? row.idle_s,
    // A paused one has no end but that of its keeping; the times begin when it goes on.
    ...(runs && timeout !== undefined && { expires_at: new Date(now + timeout * 1000) }),
    ...(runs && idle !== undefined && { idle_at: idle === 0 ? null : new Date(usedAt + idle * 1000) }),
  })
  await announce(db, id)
  return sandboxView(changed, services.clock)
}

/**
 * Uses up the approval for a longer timeout, where it needs one.
 * @returns what is left of the amount that a person approved for its running, in micro-USD
 * @throws ApprovalNeeded
 */
async function approveLonger(
  { caller, asked, db, services }: Call<'setSandboxTimeout'>,
  row: SandboxRow,
  timeoutS: number,
): Promise<bigint> {
  const at = services.clock.now()
  const { tariff, price_hourly: priceHourly } = row
  const run = { asked, tariff, priceHourly, timeoutS }
  const amount = costUntilTimeout(run)
  const holders = await holdersOf(db, { tokenId: caller.tokenId, at })
  const approvalId = await takeApproval(db, { amount, at, asking: askingToRun(run) }, holders)
  if (approvalId === undefined) return row.approved
  // What is held for it is approved now.
  const unapproved = heldUnapproved(row.held, amount) - heldUnapproved(row.held, row.approved)
  await countSpending(db, new Map(row.counted_for.map((id) => [id, { amount: 0n, unapproved }])), at)
  return amount
}
