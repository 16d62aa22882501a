import type { VpsObservation } from '@coinrack/compute/ports/vps-driver.ts'
import type { VpsRow } from './vps-store.ts'

/** The next step of the reconciler with one VPS. */
export type Step =
  | { do: 'ensure' }
  /** The machine was made and has ended before it was delivered: it is started from its disk. */
  | { do: 'start_again' }
  | { do: 'power'; action: 'start' | 'stop' | 'reboot' | 'force_stop' | 'reset' }
  | { do: 'destroy' }
  /** The machine loses its disk, so that it can get another. */
  | { do: 'wipe' }
  /** The disk is one that it had before. */
  | { do: 'put_back'; disk: string }
  /** The machine is told by its guest agent what was wished for its inside. */
  | { do: 'tell' }
  | { do: 'fail'; reason: string }
  /** A new machine is made on another host, since its own is dead. */
  | { do: 'make_elsewhere' }
  /** The machine goes to the host that was chosen for it. */
  | { do: 'move' }
  /** SSH answered for the first time: the order is charged, the paid time begins. */
  | { do: 'deliver' }
  | { do: 'record'; status: 'active' | 'stopped' | 'suspended'; sshReady: boolean }
  | { do: 'nothing' }

/** How long provisioning may take, in milliseconds. */
export const PROVISIONING_LIMIT_MS = 15 * 60_000
export const MOST_ATTEMPTS = 5

type Wish = Pick<
  VpsRow,
  | 'wanted'
  | 'wanted_boot'
  | 'done_boot'
  | 'forced'
  | 'status'
  | 'ssh_ready'
  | 'attempts'
  | 'provisioning_since'
  | 'failure_reason'
  | 'wanted_disk'
  | 'done_disk'
  | 'put_back'
  | 'rescue'
  | 'done_rescue'
  | 'hostname_pending'
  | 'next_root_password_hash'
  | 'host_state'
  | 'move_to'
  | 'move_due_at'
  | 'move_stop_from'
>

/** Compares what is wanted with what was seen. Pure: the same answer however often it is asked. */
export function planVps(row: Wish, seen: VpsObservation, now: Date): Step {
  if (row.wanted === 'deleted') return { do: 'destroy' }
  if (seen.state === 'unreachable') return planUnreachable(row, now)
  const move = planMove(row, seen, now)
  if (move) return move
  // The wishes of its owner wait until it is paid again.
  if (row.status === 'suspended') {
    if (seen.state === 'running') return { do: 'power', action: 'stop' }
    return row.ssh_ready ? { do: 'record', status: 'suspended', sshReady: false } : { do: 'nothing' }
  }
  if (row.status === 'provisioning') return planProvisioning(row, seen, now)
  if (row.status === 'reinstalling') return planReinstall(row, seen)
  if (row.wanted === 'stopped') {
    if (seen.state === 'running') return { do: 'power', action: row.forced ? 'force_stop' : 'stop' }
    return row.status === 'stopped' && !row.ssh_ready
      ? { do: 'nothing' }
      : { do: 'record', status: 'stopped', sshReady: false }
  }
  if (seen.state !== 'running') return { do: 'power', action: 'start' }
  // Which system it runs is decided by its start.
  if (row.done_rescue !== row.rescue) return { do: 'power', action: row.forced ? 'force_stop' : 'stop' }
  if (row.done_boot < row.wanted_boot) {
    // Its size can change while it is off: the start is a step of its own.
    if (row.status === 'resizing') return { do: 'power', action: 'stop' }
    return { do: 'power', action: row.forced ? 'reset' : 'reboot' }
  }
  // A reboot is over when SSH answers again.
  if ((row.status === 'rebooting' || row.status === 'resizing') && !seen.sshReady) return { do: 'nothing' }
  if (row.status !== 'active' || row.ssh_ready !== seen.sshReady) {
    return { do: 'record', status: 'active', sshReady: seen.sshReady }
  }
  // Wishes for its inside are not meant for the rescue system.
  const isToldOf = row.hostname_pending || row.next_root_password_hash !== null
  return isToldOf && !row.rescue ? { do: 'tell' } : { do: 'nothing' }
}

/** A machine moves while nothing else goes on with it. Where it cannot move while it runs it is stopped, once that is allowed. */
function planMove(row: Wish, seen: VpsObservation, now: Date): Step | undefined {
  if (row.move_to === null || isBeingMade(row)) return undefined
  if (seen.state === 'stopped') return { do: 'move' }
  const isAtRest = row.status === 'active' && row.wanted === 'running' && row.done_boot === row.wanted_boot
  if (seen.state !== 'running' || !isAtRest || row.rescue || row.done_rescue) return undefined
  if (row.move_stop_from !== null && row.move_stop_from <= now) return { do: 'power', action: 'stop' }
  return isMoveDue(row, now) ? { do: 'move' } : undefined
}

const isBeingMade = ({ status }: Pick<Wish, 'status'>) =>
  status === 'provisioning' || status === 'reinstalling'

/** Whether a move to the host that was chosen is to be tried now. */
export const isMoveDue = ({ move_due_at }: Pick<Wish, 'move_due_at'>, now: Date) =>
  move_due_at !== null && move_due_at <= now

/**
 * Nothing is started over or elsewhere while it may still run where it is. The power of a dead host is off: what can be moved
 * without it is.
 */
function planUnreachable(row: Wish, now: Date): Step {
  if (row.host_state === 'dead') {
    if (row.status === 'provisioning') return { do: 'make_elsewhere' }
    return isMoveDue(row, now) ? { do: 'move' } : { do: 'nothing' }
  }
  if (row.status === 'provisioning' && isOverdue(row, now))
    return { do: 'fail', reason: 'The host of the machine went away' }
  return row.status === 'active' && row.ssh_ready
    ? { do: 'record', status: 'active', sshReady: false }
    : { do: 'nothing' }
}

/** Whether an order has waited for its machine as long as it may. */
export const isOverdue = ({ provisioning_since }: Pick<Wish, 'provisioning_since'>, now: Date) =>
  now.getTime() - provisioning_since.getTime() > PROVISIONING_LIMIT_MS

function planReinstall(row: Wish, seen: VpsObservation): Step {
  if (row.done_disk < row.wanted_disk) return { do: 'wipe' }
  if (row.put_back !== null) return { do: 'put_back', disk: row.put_back }
  return seen.sshReady ? { do: 'record', status: 'active', sshReady: true } : makeReady(seen)
}

function planProvisioning(row: Wish, seen: VpsObservation, now: Date): Step {
  if (seen.sshReady) return { do: 'deliver' }
  if (row.attempts >= MOST_ATTEMPTS) {
    return { do: 'fail', reason: row.failure_reason ?? 'The machine could not be made' }
  }
  if (isOverdue(row, now)) return { do: 'fail', reason: 'SSH did not answer in time' }
  return makeReady(seen)
}

/** Also while it runs: the driver starts a first boot over that died or hangs, but not what has ended after it. */
const makeReady = ({ state }: VpsObservation): Step => ({
  do: state === 'stopped' ? 'start_again' : 'ensure',
})
