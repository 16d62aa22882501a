import type { Handler } from '../../dispatch/handler.ts'
import { demandSandboxes } from '../../platform/sandbox-host.ts'
import { shownState } from '../life/sandbox-view.ts'
import { stateRefusal } from '../life/state-refusal.ts'
import { blockOf, portsOf, putPort } from './port-store.ts'
import { portView } from './previews.ts'

const MOST_PORTS = 20

export const exposePort: Handler<'exposePort'> = async ({ input, resource, db, services, fail }) => {
  const { sandbox_id, port, access } = input
  demandSandboxes(services)
  const state = shownState(resource)
  if (state !== 'running' && state !== 'paused')
    fail('sandbox_not_running', ...stateRefusal(sandbox_id, state))
  const reason = await blockOf(db, sandbox_id, port)
  if (reason !== undefined) fail('preview_blocked', `The operator blocked this port: ${reason}`)
  const ports = await portsOf(db, sandbox_id)
  if (ports.length >= MOST_PORTS && !ports.some((row) => row.port === port))
    fail('sandbox_limit', `${MOST_PORTS} ports of the sandbox are exposed`, {
      nextSteps: [
        {
          tool: 'list_exposed_ports',
          why: 'See which can be taken away with unexpose_port',
          arguments: { sandbox_id },
        },
      ],
    })
  const nonce = Buffer.from(services.random.bytes(16))
  const row = await putPort(db, { sandbox_id, port, access, nonce, created_at: services.clock.now() })
  return portView(services, row)
}
