import { DriverError, type VpsObservation } from '@coinrack/compute/ports/vps-driver.ts'
import type { Metrics } from '../../dispatch/read-models.ts'
import type { Services } from '../../platform/services.ts'
import { metricsOf, type Sample } from '../meter/metrics.ts'
import type { NewestUsage } from '../meter/sample-machines.ts'
import type { networkApplier } from '../network/apply-network.ts'
import { updateMachine } from './machine-store.ts'
import { observeOne } from './observations.ts'
import { isOverdue, planVps, type Step } from './plan-vps.ts'
import { takeStep } from './take-step.ts'
import { type VpsRow, vpsById } from './vps-store.ts'
import { settleWork } from './work-store.ts'

/** A host did not answer what it sees of a machine. */
export class NotSeenError extends Error {
  override name = 'NotSeenError'
}

export const notSeen = (error: unknown): never => {
  throw error instanceof DriverError ? error : new NotSeenError('The host did not answer', { cause: error })
}

/** The observation may be of the machine on its old disk, or on a host that it was not made on. */
export const isAsSeen = (row: VpsRow, before: Pick<VpsRow, 'host_id' | 'done_disk'>) =>
  row.done_disk === before.done_disk && row.host_id === before.host_id

type Networks = ReturnType<typeof networkApplier>

export const isNetworkDue = (networks: Networks, row: VpsRow) =>
  !networks.isApplied(row.id) || row.done_network < row.wanted_network

/** The facts about machines that are remembered from one look to the next. */
export interface Known {
  samples: Map<string, Sample>
  newest: NewestUsage
  networks: Networks
}

/** The part of an observation that the owner of a machine is shown. */
export function observationOf(
  { samples, newest }: Known,
  row: VpsRow,
  seen: VpsObservation,
  now: Date,
): Metrics {
  const { id, vcpus } = row
  const at = now.getTime()
  const observation = metricsOf(seen, at, { before: samples.get(id), vcpus, newest: newest.get(id) })
  if (seen.metrics) samples.set(id, { at, cpuSeconds: seen.metrics.cpuSeconds })
  return observation
}

/**
 * Takes one step with a machine that is observed.
 * @param look what is seen of it
 */
export async function reconcileOne(
  services: Services,
  known: Known,
  before: Pick<VpsRow, 'id' | 'host_id' | 'done_disk'>,
  look: Promise<VpsObservation>,
  isSecondLook = false,
): Promise<Step['do']> {
  const { db, clock, log } = services
  const { networks } = known
  const { id } = before
  const seen = await look.catch(async (error): Promise<VpsObservation> => {
    const { status, provisioning_since } = await vpsById(db, id)
    if (status !== 'provisioning' || !isOverdue({ provisioning_since }, clock.now())) return notSeen(error)
    log.error({ err: error, vps: id }, 'The host of an order does not answer, and its time is over')
    return { state: 'unreachable', sshReady: false }
  })
  // Read after the machine was seen, so that a wish of the meantime is not overlooked.
  const row = await vpsById(db, id)
  if (!isAsSeen(row, before)) return 'nothing'
  // Given up meanwhile, with its host: what that still has is left to the operator.
  if (row.machine_gone_at !== null) return 'nothing'
  // A boot that was done by a process which did not live to write it down, or whose answer was lost.
  const done_boot = Math.min(seen.boot ?? 0, row.wanted_boot)
  if (done_boot > row.done_boot) {
    // The wish for another system is one for a boot too: what the last wish asked for runs.
    const done_rescue =
      done_boot === row.wanted_boot && seen.state === 'running' ? row.rescue : row.done_rescue
    await updateMachine(db, id, { done_boot, done_rescue, ssh_ready: false })
    Object.assign(row, { done_boot, done_rescue, ssh_ready: false })
  }
  const now = clock.now()
  const observation = observationOf(known, row, seen, now)
  const isThere = seen.state !== 'absent' && seen.state !== 'unreachable'
  if (isNetworkDue(networks, row) && isThere && row.wanted !== 'deleted') await networks.apply(row)
  const step = planVps(row, seen, now)
  if (step.do !== 'nothing' && step.do !== 'ensure') log.info({ vps: id, step, seen: seen.state }, 'VPS')
  await takeStep(services, row, seen, step, observation)
  if (row.has_work) await settleWork(db, id, clock.now())
  // A clone is ready as soon as it is made.
  if (step.do === 'ensure' && seen.state === 'absent' && !isSecondLook)
    return reconcileOne(services, known, row, observeOne(services, row), true)
  return step.do
}
