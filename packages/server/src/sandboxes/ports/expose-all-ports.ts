import { announce } from '../../database/changes.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { demandSandboxes } from '../../platform/sandbox-host.ts'
import { shownState } from '../life/sandbox-view.ts'
import { stateRefusal } from '../life/state-refusal.ts'
import { putAllPorts } from './port-store.ts'
import { addressesOf, tokenOf } from './previews.ts'

export const exposeAllPorts: Handler<'exposeAllPorts'> = async ({ input, resource, db, services, fail }) => {
  const { sandbox_id, access } = input
  demandSandboxes(services)
  const state = shownState(resource)
  if (state !== 'running' && state !== 'paused')
    fail('sandbox_not_running', ...stateRefusal(sandbox_id, state))
  const isOpen = access !== 'none'
  const made = Buffer.from(services.random.bytes(16))
  const nonce = await putAllPorts(db, sandbox_id, isOpen ? access : null, made)
  // Processes that carry connections check again whether they still may.
  await announce(db, sandbox_id)
  if (!isOpen) return { access, url: null, path_url: null, token: null }
  return {
    access,
    ...addressesOf(services, sandbox_id, '{port}'),
    token: access === 'token' ? tokenOf(services, { sandbox_id, port: null, nonce }) : null,
  }
}
