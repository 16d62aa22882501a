import { type Handler, preparedHandler } from '../../dispatch/handler.ts'
import { askHost } from '../placement/ask-hosts.ts'
import { chooseNetwork } from './choose-network.ts'
import { driveSandbox } from './drive-sandbox.ts'
import { sandboxById, updateSandbox } from './sandbox-store.ts'
import { sandboxView, shownState } from './sandbox-view.ts'
import { stateRefusal } from './state-refusal.ts'

export const setSandboxNetwork: Handler<'setSandboxNetwork'> = preparedHandler(
  ({ resource, services }) => askHost(services, resource.host_id),
  async (call, host) => {
    const { input, db, services, fail } = call
    const { sandbox_id: id, ...asked } = input
    const network = chooseNetwork([host], asked)
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
