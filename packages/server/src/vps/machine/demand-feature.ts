import type { VpsFeature } from '@coinrack/contract/features.ts'
import type { NextStep } from '@coinrack/contract/wire.ts'
import type { ErrorOptions } from '../../platform/errors.ts'
import type { VpsRow } from './vps-store.ts'

type Row = Pick<VpsRow, 'id' | 'status' | 'features' | 'rescue'>
type Refuse = (code: 'unsupported', message: string, options?: ErrorOptions) => never

/** Another way to what the caller wanted, by what this VPS has and the state that it is in. */
interface Alternative {
  fix: string
  nextSteps: NextStep[]
}

/**
 * Refuses what the host of a VPS cannot do, before anything is written. It is asked before the passing states of the VPS
 * are, so that a customer does not start or renew a VPS for something that is refused afterwards. A VPS that is gone is
 * refused for that reason.
 * @throws OperationError `unsupported`, with the missing feature in the field `feature`
 */
export function demandFeature(row: Row, feature: VpsFeature, fail: Refuse): void {
  if (row.features.includes(feature) || row.status === 'deleted' || row.status === 'failed') return
  const [message, alternative] = REFUSALS[feature]
  const { fix, nextSteps } = alternative(row)
  fail('unsupported', message, { fields: { feature }, fix, nextSteps })
}

const step = (tool: string, why: string, { id }: Row, input: Record<string, unknown> = {}): NextStep => ({
  tool,
  why,
  arguments: { service_id: id, ...input },
})

const byLogin = (row: Row, what: string): Alternative => ({
  fix: `${what} by SSH: get_vps_status shows the command to log in with.`,
  nextSteps: [step('get_vps_status', 'See how to log in', row, { reveal: false })],
})

/** Where inside the VPS a thing can be done: by a tool where the host has one, else by SSH. */
const inside = (row: Row, what: string, command: string): Alternative =>
  row.features.includes('guest_commands') && row.status === 'active'
    ? {
        fix: `${what} with run_on_vps.`,
        nextSteps: [step('run_on_vps', `${what} with the tools of its system`, row, { command })],
      }
    : byLogin(row, what)

/** A VPS that cannot be looked at is repaired from outside, or made anew. */
function withoutConsole(row: Row): Alternative {
  if (row.features.includes('rescue') && !row.rescue)
    return {
      fix: 'Boot the rescue system with rescue_vps, and look at the disk from there by SSH.',
      nextSteps: [step('rescue_vps', 'Boot the rescue system', row, { enabled: true })],
    }
  return {
    fix: 'Boot the VPS anew with power_vps; if SSH still does not answer, go back to a snapshot or reinstall it.',
    nextSteps: [
      step('power_vps', 'Boot it anew', row, { action: row.status === 'stopped' ? 'start' : 'reset' }),
      step('list_snapshots', 'See the snapshots that it can go back to', row),
    ],
  }
}

const REFUSALS: Record<VpsFeature, [message: string, alternative: (row: Row) => Alternative]> = {
  firewall: [
    'The host of this VPS neither filters nor forwards ports for its machines',
    (row) => inside(row, 'Filter inside the VPS', 'nft list ruleset'),
  ],
  ipv6: [
    'The host of this VPS has no IPv6 addresses',
    (row) => ({
      fix: 'Use its IPv4 address, which get_vps_status shows.',
      nextSteps: [step('get_vps_status', 'See its address', row, { reveal: false })],
    }),
  ],
  memory_snapshots: [
    'The host of this VPS keeps no memory in snapshots',
    (row) => ({
      fix: 'Send it with include_memory false: the disk is kept.',
      nextSteps: [step('create_snapshot', 'Keep the state of its disk', row, { include_memory: false })],
    }),
  ],
  retained_disks: [
    'The host of this VPS keeps no disks of machines that are gone',
    (row) => ({
      fix: 'Take a snapshot with create_snapshot before the disk changes.',
      nextSteps: [step('create_snapshot', 'Keep the state of its disk', row)],
    }),
  ],
  serial_console: [
    'The host of this VPS has no serial consoles',
    (row) =>
      row.features.includes('screen')
        ? {
            fix: 'Send it with type vnc: the screen.',
            nextSteps: [step('open_console', 'See its screen', row, { type: 'vnc' })],
          }
        : withoutConsole(row),
  ],
  screen: [
    'The host of this VPS shows no screens',
    (row) =>
      row.features.includes('serial_console')
        ? {
            fix: 'Send it with type serial: the serial line.',
            nextSteps: [step('open_console', 'See its serial line', row, { type: 'serial' })],
          }
        : withoutConsole(row),
  ],
  rescue: [
    'The host of this VPS has no rescue systems',
    (row) => {
      const type = row.features.includes('serial_console') ? 'serial' : 'vnc'
      const hasConsole = type === 'serial' || row.features.includes('screen')
      return hasConsole && row.status === 'active'
        ? {
            fix: 'Repair it on its console with open_console, or go back to a snapshot with restore_snapshot.',
            nextSteps: [step('open_console', 'Log in without SSH', row, { type })],
          }
        : {
            fix: 'Go back to a snapshot with restore_snapshot, or reinstall it with reinstall_vps.',
            nextSteps: [step('list_snapshots', 'See the snapshots that it can go back to', row)],
          }
    },
  ],
  guest_commands: ['The service cannot act inside the machines of this host', (row) => byLogin(row, 'Do it')],
}
