import {
  DriverError,
  type DriverErrorCode,
  type VpsObservation,
  type VpsSpec,
} from '@coinrack/compute/ports/vps-driver.ts'
import { announce } from '../../database/changes.ts'
import { inTransaction } from '../../database/transaction.ts'
import type { Metrics } from '../../dispatch/read-models.ts'
import { hostOf, type Tended } from '../../platform/machine-host.ts'
import { createTally, type PassReport } from '../../platform/pass-report.ts'
import type { Services } from '../../platform/services.ts'
import { handOverAtBoot, notifyGuest } from '../guest/notify-guest.ts'
import { metricsOf, type Sample } from '../meter/metrics.ts'
import type { NewestUsage } from '../meter/sample-machines.ts'
import { moveVps } from '../move/move-vps.ts'
import { networkApplier } from '../network/apply-network.ts'
import { freePorts } from '../network/network-store.ts'
import { unwantNames } from '../network/rdns/rdns-store.ts'
import { deliverVps, failVps } from './deliver-vps.ts'
import { recordMachine, updateMachine } from './machine-store.ts'
import { moveSshPort } from './move-ssh-port.ts'
import { moveToAnotherHost } from './move-to-another-host.ts'
import { notifyChange } from './notify-change.ts'
import { observeOne, observeTogether } from './observations.ts'
import { isMoveDue, isOverdue, MOST_ATTEMPTS, planVps, type Step } from './plan-vps.ts'
import { destroyKeepingDisk, putDiskBack, wipeDisk } from './replace-disk.ts'
import { userDataPurpose } from './user-data.ts'
import { type VpsRow, type VpsToDo, vpsById, vpsWithMachines } from './vps-store.ts'
import { settleWork } from './work-store.ts'

/** The reason that a customer is told: a driver's own words are about the operator's host. */
const WHY: Record<DriverErrorCode, string> = {
  image_unknown: 'The OS image is no longer offered',
  image_not_ready: 'The OS image was not ready',
  spec_invalid: 'This host cannot run such a machine',
  machine_unknown: 'The machine disappeared',
  snapshot_unknown: 'The snapshot disappeared',
  snapshot_damaged: 'The snapshot cannot be read',
  no_space: 'The host had no room for the machine',
  unsupported: 'This host has no networks for machines',
  guest_failed: 'The machine did not start',
  port_taken: 'The port of the machine was taken by another one',
}

const AT_ONCE = 8
const STEADY_MS = 15_000
/** For one that waits for its guest agent, or that can't be made. */
const WAITING_MS = 5_000

export interface VpsReconciler {
  /**
   * Finds what is to be done, for every machine that nothing is being done with, and begins it: some at once.
   * Idle when every machine is as it is wanted.
   */
  pass(): Promise<PassReport>
  /** Resolves when all that was found is done. */
  idle(): Promise<void>
  /** Begins nothing more; resolves when what was begun is done. */
  end(): Promise<void>
}

/**
 * Makes machines what they are wanted to be. Takes no input: all it knows is the database and what the
 * driver observes, so it can be killed at any step and goes on from there.
 */
export function createVpsReconciler(
  services: Services,
  {
    newest = new Map(),
    tended = () => [...services.hosts.keys()],
  }: { newest?: NewestUsage; tended?: Tended } = {},
): VpsReconciler {
  const busy = new Map<string, Promise<void>>()
  const lookedAt = new Map<string, number>()
  const samples = new Map<string, Sample>()
  const networks = networkApplier(services)
  const tally = createTally()
  let due: VpsToDo[] = []
  let observe = observeTogether(services)

  const lastLook = ({ id }: VpsToDo) => lookedAt.get(id) ?? 0
  function isDue(row: VpsToDo): boolean {
    if (busy.has(row.id)) return false
    if (!isSteady(row) || isMoveDue(row, services.clock.now())) return true
    if (row.wished_at && row.wished_at.getTime() >= lastLook(row)) return true
    const since = services.clock.now().getTime() - lastLook(row)
    // The last look lies ahead where the clock was set back.
    return since < 0 || since >= (row.has_work ? WAITING_MS : STEADY_MS)
  }
  /** Nothing is to be done with it, as far as is known: it can be looked at along with the others of its host. */
  const isOnlyLookedAt = (row: VpsToDo) =>
    isSteady(row) &&
    !isMoveDue(row, services.clock.now()) &&
    !row.has_work &&
    !(row.wished_at && row.wished_at.getTime() >= lastLook(row))

  function begin(): void {
    while (busy.size < AT_ONCE) {
      const row = due.shift()
      if (!row) return
      const look = isOnlyLookedAt(row) ? observe(row) : observeOne(services, row)
      lookedAt.set(row.id, services.clock.now().getTime())
      const isSeen = look.then(
        () => true,
        () => false,
      )
      const work = reconcileOne(services, { samples, newest, networks }, row, look)
        .then((step) => {
          if (step !== 'nothing') tally.done()
          // Work that was waiting for that can go on at once.
          if (step === 'record') lookedAt.delete(row.id)
        })
        .catch(async (error) => {
          tally.failed()
          // What the host did not answer may be done or not, and a machine that was steady before is not: it is looked at again at once.
          if (!(error instanceof DriverError) && (await isSeen)) lookedAt.delete(row.id)
          services.log.error({ err: error, vps: row.id }, 'Reconciling a VPS failed')
        })
        .finally(() => {
          busy.delete(row.id)
          begin()
        })
      busy.set(row.id, work)
    }
  }

  const idle = async () => {
    while (busy.size > 0) await Promise.all(busy.values())
  }
  return {
    async pass() {
      const rows = await vpsWithMachines(services.db, tended())
      const live = new Set(rows.map(({ id }) => id))
      for (const seen of [lookedAt, samples]) for (const id of seen.keys()) if (!live.has(id)) seen.delete(id)
      networks.forget((id) => live.has(id))
      observe = observeTogether(services)
      const asked = new Set(
        rows.filter((row) => isDue(row) && isOnlyLookedAt(row)).map(({ host_id }) => host_id),
      )
      // Machines that are only looked at hold up none that wait; in both groups the one that has waited longest is
      // first.
      due = rows
        .filter((row) => isDue(row) || (!busy.has(row.id) && isOnlyLookedAt(row) && asked.has(row.host_id)))
        .sort((a, b) => Number(isSteady(a)) - Number(isSteady(b)) || lastLook(a) - lastLook(b))
      begin()
      return tally.report(
        rows.length,
        rows.every((row) => isSteady(row) && !row.has_work && row.move_due_at === null),
      )
    },
    idle,
    end() {
      due = []
      return idle()
    },
  }
}

/** Nothing is under way with it: looking now and then is enough. */
const isSteady = (row: VpsToDo) =>
  row.done_boot === row.wanted_boot &&
  row.done_network === row.wanted_network &&
  ((row.status === 'active' && row.wanted === 'running' && row.ssh_ready) ||
    (row.status === 'stopped' && row.wanted === 'stopped') ||
    (row.status === 'suspended' && !row.ssh_ready) ||
    (row.status === 'reinstalling' && row.attempts >= MOST_ATTEMPTS && row.done_disk === row.wanted_disk))

/** Observes one machine and takes one step. */
async function reconcileOne(
  services: Services,
  known: {
    samples: Map<string, Sample>
    newest: NewestUsage
    networks: ReturnType<typeof networkApplier>
  },
  before: Pick<VpsRow, 'id' | 'host_id' | 'done_disk'>,
  look: Promise<VpsObservation>,
  isSecondLook = false,
): Promise<Step['do']> {
  const { db, clock, log } = services
  const { samples, newest, networks } = known
  const { id } = before
  const seen = await look.catch(async (error): Promise<VpsObservation> => {
    const { status, provisioning_since } = await vpsById(db, id)
    if (status !== 'provisioning' || !isOverdue({ provisioning_since }, clock.now())) throw error
    log.error({ err: error, vps: id }, 'The host of an order does not answer, and its time is over')
    return { state: 'unreachable', sshReady: false }
  })
  // Read after the machine was seen, so that a wish of the meantime is not overlooked.
  const row = await vpsById(db, id)
  // The observation may be of the machine on its old disk, or on a host that it was not made on.
  if (row.done_disk !== before.done_disk || row.host_id !== before.host_id) return 'nothing'
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
  const observation = metricsOf(seen, now.getTime(), {
    before: samples.get(id),
    vcpus: row.vcpus,
    newest: newest.get(id),
  })
  if (seen.metrics) samples.set(id, { at: now.getTime(), cpuSeconds: seen.metrics.cpuSeconds })
  const isNetworkDue = !networks.isApplied(id) || row.done_network < row.wanted_network
  const isThere = seen.state !== 'absent' && seen.state !== 'unreachable'
  if (isNetworkDue && isThere && row.wanted !== 'deleted') await networks.apply(row)
  const step = planVps(row, seen, now)
  if (step.do !== 'nothing' && step.do !== 'ensure') log.info({ vps: id, step, seen: seen.state }, 'VPS')
  await take(services, row, seen, step, observation)
  if (row.has_work) await settleWork(db, id, clock.now())
  // A clone is ready as soon as it is made.
  if (step.do === 'ensure' && seen.state === 'absent' && !isSecondLook)
    return reconcileOne(services, known, row, observeOne(services, row), true)
  return step.do
}

async function take(
  services: Services,
  row: VpsRow,
  seen: VpsObservation,
  step: Step,
  observation: Metrics,
): Promise<void> {
  const { db, clock } = services
  const { id } = row
  const { driver } = hostOf(services, row)
  switch (step.do) {
    case 'ensure':
      return tryToMake(services, row, () => driver.ensure(specOf(services, row)))
    case 'start_again':
      return tryToMake(services, row, async () => {
        await driver.ensure(specOf(services, row))
        await driver.power(id, 'start', row.wanted_boot)
      })
    case 'power':
      return power(services, row, seen, step.action)
    case 'tell':
      await notifyGuest(services, row, seen)
      return updateMachine(db, id, { observation })
    case 'wipe':
      return wipeDisk(services, row, seen.state !== 'absent')
    case 'put_back':
      return tryToMake(services, row, () => putDiskBack(services, row, step.disk))
    case 'destroy':
      return destroyKeepingDisk(services, row, async (tx) => {
        await freePorts(tx, id)
        await unwantNames(tx, id, clock.now())
        await updateMachine(tx, id, { machine_gone_at: clock.now() })
        await settleWork(tx, id, clock.now())
      })
    case 'make_elsewhere':
      if (await moveToAnotherHost(services, row)) return
      return failVps(services, id, 'The host of the machine was lost')
    case 'move':
      return moveVps(services, row, seen)
    case 'fail':
      return failVps(services, id, step.reason)
    case 'deliver':
      return deliverVps(services, id)
    case 'record':
      await inTransaction(db, async (tx) => {
        const now = { status: step.status, ssh_ready: step.sshReady }
        if (await recordMachine(tx, row, { ...now, observation })) await notifyChange(tx, services, row, now)
      })
      return announce(db, id)
    case 'nothing':
      if (row.status === 'active') await updateMachine(db, id, { observation })
  }
}

async function tryToMake(services: Services, row: VpsRow, make: () => Promise<void>): Promise<void> {
  try {
    await make()
  } catch (error) {
    // Without an answer nothing is known of the machine: that is no attempt, and the process that tends it looks again.
    if (!(error instanceof DriverError)) throw error
    services.log.warn({ err: error, vps: row.id }, 'A machine could not be made; it is tried again')
    const { code } = error
    if (code === 'port_taken' && (await moveSshPort(services, row))) return
    if (isOfHost(code) && (await moveToAnotherHost(services, row))) return
    await updateMachine(services.db, row.id, { attempts: row.attempts + 1, failure_reason: WHY[code] })
  }
}

/** Whether another host may be able to do what this one could not. */
const isOfHost = (code: DriverErrorCode) =>
  code === 'no_space' || code === 'image_unknown' || code === 'image_not_ready' || code === 'unsupported'

async function power(
  services: Services,
  row: VpsRow,
  seen: VpsObservation,
  action: 'start' | 'stop' | 'reboot' | 'force_stop' | 'reset',
) {
  const { driver } = hostOf(services, row)
  if (action === 'start') await driver.ensure(specOf(services, row))
  const isHandedOver =
    row.rescue || action === 'stop' || action === 'force_stop'
      ? false
      : await handOverAtBoot(services, row, seen)
  // A reset keeps the process, and with it what it was started with.
  if (isHandedOver && action === 'reset') await driver.power(row.id, 'force_stop')
  const isBoot = action === 'start' || action === 'reboot' || action === 'reset'
  await driver.power(row.id, action, isBoot ? row.wanted_boot : undefined)
  await updateMachine(services.db, row.id, {
    ssh_ready: false,
    // A start is a boot as well: no other is owed for a wish that came before it.
    ...(isBoot ? { done_boot: row.wanted_boot } : {}),
    ...(action === 'start' ? { done_rescue: row.rescue } : {}),
  })
  await announce(services.db, row.id)
}

function specOf({ sealer }: Services, row: VpsRow): VpsSpec {
  return {
    id: row.id,
    vcpus: row.vcpus,
    memoryMb: row.memory_mb,
    diskGb: row.disk_gb,
    image: row.image,
    hostname: row.hostname,
    sshAuthorizedKeys: row.ssh_key ? [row.ssh_key] : [],
    rootPasswordHash: row.root_password_hash,
    sshHostKey: {
      privateKey: sealer.open(row.ssh_host_private_key, `ssh-host-key:${row.id}`),
      publicKey: row.ssh_host_public_key,
    },
    sshAddress: { host: row.ssh_host, port: row.ssh_port },
    boot: row.boot,
    addresses: { ...(row.ipv4 && { ipv4: row.ipv4 }), ...(row.ipv6 && { ipv6: row.ipv6 }) },
    rescue: row.rescue,
    userData: row.user_data ? sealer.open(row.user_data, userDataPurpose(row.id)) : undefined,
  }
}
