import { announce } from '../../database/changes.ts'
import { type Handler, preparedHandler } from '../../dispatch/handler.ts'
import { OperationError } from '../../platform/errors.ts'
import { beginDays } from '../meter/day-store.ts'
import { askHost } from '../placement/ask-hosts.ts'
import { takeRoomOn } from '../placement/place-sandbox.ts'
import { noNetworks } from './choose-network.ts'
import { driveSandbox } from './drive-sandbox.ts'
import { holdFirstMinute } from './hold-first-minute.ts'
import { sandboxById, updateSandbox } from './sandbox-store.ts'
import { shownState } from './sandbox-view.ts'
import { paidAnswer, unreachable } from './start-sandbox.ts'
import { stateRefusal } from './state-refusal.ts'
import { DAMAGED, NO_NETWORK } from './step-sandbox.ts'

export const resumeSandbox: Handler<'resumeSandbox'> = preparedHandler(
  ({ resource, services }) => askHost(services, resource.host_id),
  async (call, host) => {
    const { input, caller, asked, db, services, fail } = call
    const { sandbox_id: id } = input
    const before = await sandboxById(db, id)
    if (shownState(before) === 'running') return paidAnswer(db, services, caller.accountId, before)
    // The balance is locked first, and with it whatever is decided on the state.
    const { held, counted, approved } = await holdFirstMinute(db, services, {
      id,
      accountId: caller.accountId,
      tokenId: caller.tokenId,
      asked,
      tariff: before.tariff,
      priceHourly: before.price_hourly,
      timeoutS: input.timeout ?? before.timeout_s,
      approved: before.approved,
      isNew: false,
    })
    const row = await sandboxById(db, id)
    const state = shownState(row)
    if (state !== 'paused') fail('sandbox_not_running', ...stateRefusal(id, state))
    await takeRoomOn(
      db,
      services,
      host,
      { vcpus: row.vcpus, memoryMb: row.memory_mb, diskGb: row.disk_gb },
      { kept: true },
    )
    const now = services.clock.now()
    await beginDays(db, [{ sandboxId: id, lineId: services.newId('transaction') }], now)
    const wanted = await updateSandbox(db, id, {
      wanted: 'running',
      timeout_s: input.timeout ?? row.timeout_s,
      held,
      approved,
      // The caller who resumes the sandbox is charged for it.
      counted_for: counted,
      seen_at: now,
      failure: null,
      attempts: 0,
    })
    await announce(db, id)
    call.afterCommit(async () => {
      const driven = await driveSandbox(
        services,
        id,
        (row) => row.state !== 'paused' || row.wanted !== 'running',
      )
      if (driven.state === 'paused' && driven.wanted === 'paused' && driven.failure !== null)
        throw refusal(driven)
      return paidAnswer(services.db, services, caller.accountId, driven)
    })
    return paidAnswer(db, services, caller.accountId, wanted)
  },
)

function refusal(row: Parameters<typeof unreachable>[0]) {
  if (row.failure === NO_NETWORK) return noNetworks()
  if (row.failure === DAMAGED)
    return new OperationError('sandbox_damaged', `Sandbox ${row.id}: ${row.failure}`, {
      nextSteps: [
        { tool: 'kill_sandbox', why: 'End it', arguments: { sandbox_id: row.id } },
        { tool: 'create_sandbox', why: 'And make another' },
      ],
    })
  return unreachable(row)
}
