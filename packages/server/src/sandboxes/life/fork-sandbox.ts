import type { SandboxSize } from '@coinrack/compute/ports/sandbox-runtime.ts'
import { type Handler, preparedHandler } from '../../dispatch/handler.ts'
import { askHost } from '../placement/ask-hosts.ts'
import { takeRoomOn } from '../placement/place-sandbox.ts'
import { openEnv, sealEnv } from './sandbox-spec.ts'
import { sandboxById } from './sandbox-store.ts'
import { shownState } from './sandbox-view.ts'
import { awaitStart, paidAnswer, startSandbox } from './start-sandbox.ts'
import { stateRefusal } from './state-refusal.ts'

export const forkSandbox: Handler<'forkSandbox'> = preparedHandler(
  ({ resource, services }) => askHost(services, resource.host_id),
  async (call, host) => {
    const { input, caller, db, services, fail } = call
    const parent = await sandboxById(db, input.sandbox_id)
    const state = shownState(parent)
    if (state !== 'running' && state !== 'paused')
      fail('sandbox_not_running', ...stateRefusal(parent.id, state))
    const id = services.newId('sandbox')
    // It goes on from what its parent is, on its parent's host.
    const place = async (size: SandboxSize) => {
      await takeRoomOn(db, services, host, size)
      return host.id
    }
    const {
      tariff,
      template,
      template_name,
      mode,
      vcpus,
      memory_mb,
      disk_gb,
      network,
      idle_s,
      price_hourly,
    } = parent
    const row = await startSandbox(db, services, call, place, {
      id,
      account_id: caller.accountId,
      tariff,
      template,
      template_name,
      mode,
      vcpus,
      memory_mb,
      disk_gb,
      env: sealEnv(services, id, openEnv(services, parent)),
      metadata: input.metadata ?? parent.metadata,
      network,
      parent_id: parent.id,
      timeout_s: input.timeout ?? parent.timeout_s,
      idle_s,
      price_hourly,
    })
    call.afterCommit(() => awaitStart(call, id))
    return paidAnswer(db, services, caller.accountId, row)
  },
)
