import { announce } from '../../database/changes.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { demandSandboxes } from '../../platform/sandbox-host.ts'
import { driveSandbox } from './drive-sandbox.ts'
import { sandboxById, updateSandbox } from './sandbox-store.ts'
import { paidAnswer } from './start-sandbox.ts'

export const killSandbox: Handler<'killSandbox'> = async (call) => {
  const { input, caller, db, services } = call
  const { sandbox_id: id } = input
  const row = await sandboxById(db, id)
  if (row.gone_at) return paidAnswer(db, services, caller.accountId, row)
  demandSandboxes(services)
  const wanted =
    row.wanted === 'ended' ? row : await updateSandbox(db, id, { wanted: 'ended', reason: 'asked' })
  await announce(db, id)
  call.afterCommit(async () => {
    const now = await driveSandbox(services, id, ({ gone_at }) => gone_at !== null)
    return paidAnswer(services.db, services, caller.accountId, now)
  })
  return paidAnswer(db, services, caller.accountId, wanted)
}
