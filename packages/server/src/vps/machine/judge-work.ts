import type { workKinds } from '@coinrack/contract/work.ts'
import { MOST_ATTEMPTS } from './plan-vps.ts'
import type { VpsRow } from './vps-store.ts'

/** How far work on a VPS is. */
export interface Verdict {
  status: 'running' | 'succeeded' | 'failed' | 'superseded'
  progress: string
  error: string | null
}

type Seen = Pick<
  VpsRow,
  | 'wanted'
  | 'status'
  | 'wanted_boot'
  | 'done_boot'
  | 'wanted_disk'
  | 'done_disk'
  | 'put_back'
  | 'rescue'
  | 'done_rescue'
  | 'ssh_ready'
  | 'attempts'
  | 'failure_reason'
  | 'hostname_pending'
  | 'next_root_password_hash'
  | 'wish_failure'
  | 'cancel_at_period_end'
  | 'machine_gone_at'
>

const running = (progress: string): Verdict => ({ status: 'running', progress, error: null })
const succeeded = (progress: string): Verdict => ({ status: 'succeeded', progress, error: null })
const failed = (error: string): Verdict => ({ status: 'failed', progress: 'Ended', error })

const ENDED_BY_SUSPENSION: readonly string[] = ['start', 'stop', 'reboot', 'reinstall']

/** Not a failure: a caller with rights on the VPS changed their mind. */
const superseded: Verdict = {
  status: 'superseded',
  progress: 'Ended',
  error: 'Something else was asked of the VPS before it was done',
}

/** Whether what was asked is so by now. Pure: work has no state of its own, the VPS has it. */
export function judgeWork(kind: (typeof workKinds)[number], row: Seen): Verdict {
  if (kind === 'cancel') {
    if (row.wanted !== 'deleted') {
      return row.cancel_at_period_end ? succeeded('Kept until the paid time ends') : superseded
    }
    return row.machine_gone_at ? succeeded('Deleted') : running('Deleting the machine and its disk')
  }
  if (row.wanted === 'deleted') return failed('The VPS was deleted')
  if (row.status === 'suspended' && ENDED_BY_SUSPENSION.includes(kind)) {
    return failed('The VPS was suspended before it was done')
  }
  switch (kind) {
    case 'start':
      if (row.wanted !== 'running') return superseded
      return row.status === 'active' ? succeeded('Started') : running('Starting')
    case 'stop':
      if (row.wanted !== 'stopped') return superseded
      return row.status === 'stopped' ? succeeded('Stopped') : running('Shutting down')
    case 'reboot':
      if (row.wanted !== 'running') return superseded
      return row.done_boot >= row.wanted_boot && row.status === 'active' && row.ssh_ready
        ? succeeded('Rebooted')
        : running(row.done_boot < row.wanted_boot ? 'Shutting down' : 'Booting')
    case 'set_hostname':
      return row.hostname_pending ? running(waiting(row, 'Telling the machine')) : succeeded('Set')
    case 'reset_password':
      return row.next_root_password_hash === null
        ? succeeded('Set: get_vps_status shows it once')
        : running(waiting(row, 'Setting it inside'))
    case 'reinstall':
      if (row.put_back !== null) return superseded
      if (row.status !== 'reinstalling') return succeeded('Reinstalled')
      if (row.attempts >= MOST_ATTEMPTS) return failed(row.failure_reason ?? 'The machine could not be made')
      return running(row.done_disk < row.wanted_disk ? 'Wiping the disk' : 'Installing')
    case 'enter_rescue':
    case 'leave_rescue':
      if (row.wanted !== 'running' || row.rescue !== (kind === 'enter_rescue')) return superseded
      if (row.done_rescue !== row.rescue) return running('Shutting down')
      return row.status === 'active' && row.ssh_ready
        ? succeeded(row.rescue ? 'The rescue system runs' : 'Runs from its own disk')
        : running('Booting')
    case 'change_plan':
      if (row.status !== 'resizing') return succeeded('Grown')
      return running(row.done_boot < row.wanted_boot ? 'Shutting down' : 'Booting with the new size')
  }
}

const waiting = (row: Seen, otherwise: string) => {
  if (row.status === 'stopped' || row.status === 'suspended') return 'Waits for the VPS to be started'
  return row.wish_failure ?? otherwise
}
