import type { Handler } from '../../dispatch/handler.ts'
import { lockBalance } from '../../ledger/balance.ts'
import { OperationError } from '../../platform/errors.ts'
import { demandSandboxes } from '../../platform/sandbox-host.ts'
import { ownCopy } from '../copies/copy-store.ts'
import { sandboxById } from '../life/sandbox-store.ts'
import { shownState } from '../life/sandbox-view.ts'
import { stateRefusal } from '../life/state-refusal.ts'
import { noRoom } from '../placement/place-sandbox.ts'
import { stepSnapshot } from './reconcile-snapshots.ts'
import { insertSnapshot, keptSnapshots, snapshotById } from './snapshot-store.ts'
import { snapshotView } from './snapshot-view.ts'

const MOST_SNAPSHOTS = 20
const MOST_TRIES = 3

export const createSandboxSnapshot: Handler<'createSandboxSnapshot'> = async (call) => {
  const { input, caller, db, services, fail } = call
  demandSandboxes(services)
  // One at a time for each account, so that two do not count the same ones.
  await lockBalance(db, caller.accountId)
  const sandbox = await sandboxById(db, input.sandbox_id)
  const state = shownState(sandbox)
  if (state !== 'running' && state !== 'paused')
    fail('sandbox_not_running', ...stateRefusal(sandbox.id, state))
  if (state === 'paused' && (await ownCopy(db, sandbox)))
    fail('sandbox_not_running', 'The sandbox was moved while it was paused; resume it first', {
      nextSteps: stateRefusal(sandbox.id, 'paused')[1].nextSteps!,
    })
  if ((await keptSnapshots(db, caller.accountId)) >= MOST_SNAPSHOTS)
    fail('sandbox_snapshot_limit', `${MOST_SNAPSHOTS} snapshots are kept already`)
  const row = await insertSnapshot(db, {
    id: services.newId('snapshot'),
    account_id: caller.accountId,
    sandbox_id: sandbox.id,
    name: input.name ?? sandbox.template,
    tariff: sandbox.tariff,
    created_at: services.clock.now(),
    host_id: sandbox.host_id,
  })
  call.afterCommit(async () => {
    let now = row
    for (let tries = 0; now.status === 'creating' && tries < MOST_TRIES; tries++) {
      await stepSnapshot(services, now)
      now = (await snapshotById(services.db, row.id)) ?? { ...now, status: 'failed' }
    }
    if (now.status === 'failed') throw refusal(now.attempts)
    return { snapshot: snapshotView(now) }
  })
  return { snapshot: snapshotView(row) }
}

/** After one try the host or the sandbox is not there for it; after more the sandbox does not answer. */
const refusal = (attempts: number) =>
  attempts > 1
    ? new OperationError('sandbox_unreachable', 'The sandbox could not be saved')
    : noRoom('The host could not save the sandbox')
