import type { ErrorOptions } from '../../platform/errors.ts'
import type { VpsStatus } from './machine-store.ts'

/** Which wait of get_vps_status ends when such a state does. */
const WAITS = {
  provisioning: 'ssh_ready',
  rebooting: 'active',
  reinstalling: 'active',
  resizing: 'active',
} as const
const SECONDS = 50

/**
 * The refusal by a state of a VPS, as the message and the options of `service_busy`: with what leads on from that
 * state, so that the same call can be made afterwards.
 * @param why in place of the state alone
 */
export function stateRefusal(
  { id, status }: { id: string; status: VpsStatus },
  why = `The VPS is ${status}`,
): [message: string, options: ErrorOptions] {
  return [why, leadOn(id, status)]
}

/** The same for a VPS that runs its rescue system. */
export const rescueRefusal = ({ id }: { id: string }): [message: string, options: ErrorOptions] => [
  'The VPS runs its rescue system: leave that first',
  {
    fix: 'Leave the rescue system with rescue_vps and enabled false, then repeat the call.',
    nextSteps: [
      {
        tool: 'rescue_vps',
        why: 'Boot its own disk again',
        arguments: { service_id: id, enabled: false },
      },
    ],
  },
]

function leadOn(id: string, status: VpsStatus): Required<Pick<ErrorOptions, 'fix' | 'nextSteps'>> {
  const service = { service_id: id }
  switch (status) {
    case 'stopped':
      return {
        fix: 'Start the VPS with power_vps, then repeat the call.',
        nextSteps: [{ tool: 'power_vps', why: 'Start it', arguments: { ...service, action: 'start' } }],
      }
    case 'suspended':
      return {
        fix: 'Renew the VPS with renew_service, which starts it again, then repeat the call.',
        nextSteps: [{ tool: 'renew_service', why: 'Pay its next period', arguments: service }],
      }
    case 'failed':
      return {
        fix: 'Order another VPS: this one could not be made, and its price was given back.',
        nextSteps: [{ tool: 'list_plans', why: 'Choose a plan, and order it with order_vps' }],
      }
    case 'deleted':
      return {
        fix: 'Bring the VPS back with restore_snapshot while list_snapshots shows a snapshot of it, or order another.',
        nextSteps: [
          { tool: 'list_snapshots', why: 'See whether its disk is still kept', arguments: service },
          { tool: 'list_plans', why: 'Or choose a plan for another VPS' },
        ],
      }
    case 'active':
      return {
        fix: 'Wait a moment with get_vps_status, then repeat the call.',
        nextSteps: [{ tool: 'get_vps_status', why: 'See what it is doing', arguments: service }],
      }
    default:
      return {
        fix: 'Wait with get_vps_status until the VPS is active, then repeat the call.',
        nextSteps: [
          {
            tool: 'get_vps_status',
            why: 'Wait until this is done',
            arguments: { ...service, wait: WAITS[status], timeout: SECONDS },
          },
        ],
      }
  }
}
