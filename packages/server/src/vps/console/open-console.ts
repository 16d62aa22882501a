import type { Handler } from '../../dispatch/handler.ts'
import { demandFeature } from '../machine/demand-feature.ts'
import { stateRefusal } from '../machine/state-refusal.ts'
import { vpsById } from '../machine/vps-store.ts'
import { makeLink } from './console-links.ts'

export const openConsole: Handler<'openConsole'> = async ({ input, caller, db, services, fail }) => {
  const { service_id: vpsId, type } = input
  const row = await vpsById(db, vpsId)
  demandFeature(row, type === 'serial' ? 'serial_console' : 'screen', fail)
  const { status, wanted } = row
  if (!['active', 'rebooting'].includes(status) || wanted !== 'running')
    throw fail(
      'service_busy',
      // A VPS that is being stopped is started again in the same way as one that is stopped.
      ...stateRefusal(
        { id: vpsId, status: ['active', 'rebooting'].includes(status) ? 'stopped' : status },
        `The VPS is ${status}: a console needs one that runs`,
      ),
    )
  const { accountId, tokenId } = caller
  const { secret, expiresAt } = await makeLink(db, services, { vpsId, type, accountId, tokenId })
  const url = `${services.config.publicUrl}/console/${secret}`
  return { type, url, websocket_url: `${url.replace(/^http/, 'ws')}/socket`, expires_at: expiresAt }
}
