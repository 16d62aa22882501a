import { announce } from '../../database/changes.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { demandSandboxes } from '../../platform/sandbox-host.ts'
import { driveSandbox } from './drive-sandbox.ts'
import { sandboxById, updateSandbox } from './sandbox-store.ts'
import { shownState } from './sandbox-view.ts'
import { paidAnswer, unreachable } from './start-sandbox.ts'
import { stateRefusal } from './state-refusal.ts'

export const pauseSandbox: Handler<'pauseSandbox'> = async (call) => {
  const { input, caller, db, services, fail } = call
  const { sandbox_id: id } = input
  demandSandboxes(services)
  const row = await sandboxById(db, id)
  const state = shownState(row)
  if (state === 'paused') return paidAnswer(db, services, caller.accountId, row)
  if (state !== 'running' && state !== 'pausing') fail('sandbox_not_running', ...stateRefusal(id, state))
  const wanted =
    state === 'pausing'
      ? row
      : await updateSandbox(db, id, { wanted: 'paused', reason: 'asked', failure: null, attempts: 0 })
  await announce(db, id)
  call.afterCommit(async () => {
    const now = await driveSandbox(services, id, (row) => row.state !== 'running' || row.wanted !== 'paused')
    if (now.state === 'running' && now.wanted === 'running' && now.failure !== null) throw unreachable(now)
    return paidAnswer(services.db, services, caller.accountId, now)
  })
  return paidAnswer(db, services, caller.accountId, wanted)
}
