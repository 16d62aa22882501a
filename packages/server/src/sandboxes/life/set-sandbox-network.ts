import { type Handler, preparedHandler } from '../../dispatch/handler.ts'
import { chooseNetwork } from './choose-network.ts'
import { driveSandbox } from './drive-sandbox.ts'
import { sandboxesOf } from './placement.ts'
import { sandboxById, updateSandbox } from './sandbox-store.ts'
import { sandboxView, shownState } from './sandbox-view.ts'
import { stateRefusal } from './state-refusal.ts'

export const setSandboxNetwork: Handler<'setSandboxNetwork'> = preparedHandler(
  ({ services }) => sandboxesOf(services).runtime.hasNetworks(),
  async (call, hasNetworks) => {
    const { input, db, services, fail } = call
    const { sandbox_id: id, ...asked } = input
    const network = chooseNetwork({ hasNetworks }, asked)
    const row = await sandboxById(db, id)
    const state = shownState(row)
    if (state !== 'running' && state !== 'paused') fail('sandbox_not_running', ...stateRefusal(id, state))
    const changed = await updateSandbox(db, id, {
      network,
      wanted_network: row.wanted_network + 1,
      failure: null,
    })
    call.afterCommit(async () => {
      const now = await driveSandbox(services, id, (row) => row.done_network >= changed.wanted_network)
      return sandboxView(now, services.clock)
    })
    return sandboxView(changed, services.clock)
  },
)
