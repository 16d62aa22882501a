import { announce } from '../../database/changes.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { sandboxById, updateSandbox } from './sandbox-store.ts'
import { sandboxView, shownState } from './sandbox-view.ts'
import { stateRefusal } from './state-refusal.ts'

export const setSandboxTimeout: Handler<'setSandboxTimeout'> = async ({ input, db, services, fail }) => {
  const { sandbox_id: id, timeout, idle_timeout: idle } = input
  const row = await sandboxById(db, id)
  const state = shownState(row)
  if (state !== 'running' && state !== 'paused') fail('sandbox_not_running', ...stateRefusal(id, state))
  const now = services.clock.now().getTime()
  const usedAt = row.idle_at ? row.idle_at.getTime() - row.idle_s * 1000 : now
  const runs = state === 'running'
  const changed = await updateSandbox(db, id, {
    timeout_s: timeout ?? row.timeout_s,
    idle_s: idle ?? row.idle_s,
    // A paused one has no end but that of its keeping; the times begin when it goes on.
    ...(runs && timeout !== undefined && { expires_at: new Date(now + timeout * 1000) }),
    ...(runs && idle !== undefined && { idle_at: idle === 0 ? null : new Date(usedAt + idle * 1000) }),
  })
  await announce(db, id)
  return sandboxView(changed, services.clock)
}
