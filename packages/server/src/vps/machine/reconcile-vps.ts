import { DriverError, type VpsObservation } from '@coinrack/compute/ports/vps-driver.ts'
import type { Tended } from '../../platform/machine-host.ts'
import { createTally, type PassReport } from '../../platform/pass-report.ts'
import type { Services } from '../../platform/services.ts'
import type { NewestUsage } from '../meter/sample-machines.ts'
import { networkApplier } from '../network/apply-network.ts'
import { createLook } from './look.ts'
import { FRESH_MS, observeOne, observeTogether } from './observations.ts'
import { isMoveDue, MOST_ATTEMPTS, type Step } from './plan-vps.ts'
import { type Known, NotSeenError, reconcileOne } from './reconcile-one.ts'
import { type VpsToDo, vpsWithMachines } from './vps-store.ts'

const AT_ONCE = 8
/** Machines that are only looked at: read and written down together. */
const LOOKED_AT_ONCE = 500
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
  const known: Known = { samples: new Map(), newest, networks: networkApplier(services) }
  const look = createLook(services, known)
  const tally = createTally()
  /** Machines that may take a step, and those that are only looked at. The last of a list is the next, since a long list gives that at once. */
  let due: VpsToDo[] = []
  let dueLooks: VpsToDo[] = []
  const underWay = { steps: 0, looks: 0 }
  /** Those of which a look has shown that something is to be done, with what was seen and when. */
  const toStep = new Map<string, { seen: VpsObservation; at: number }>()
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
    !toStep.has(row.id) &&
    isSteady(row) &&
    !isMoveDue(row, services.clock.now()) &&
    !row.has_work &&
    !(row.wished_at && row.wished_at.getTime() >= lastLook(row))

  function begin(): void {
    while (underWay.steps < AT_ONCE) {
      const row = due.pop()
      if (!row) break
      const shown = toStep.get(row.id)
      toStep.delete(row.id)
      const isFresh = shown && services.clock.now().getTime() - shown.at < FRESH_MS
      const seen = isFresh ? Promise.resolve(shown.seen) : observeOne(services, row)
      work('steps', row, () => reconcileOne(services, known, row, seen))
    }
    while (underWay.looks < LOOKED_AT_ONCE) {
      const row = dueLooks.pop()
      if (!row) break
      work('looks', row, () => lookAt(row))
    }
  }

  function work(kind: keyof typeof underWay, row: VpsToDo, take: () => Promise<Step['do']>): void {
    lookedAt.set(row.id, services.clock.now().getTime())
    underWay[kind]++
    const done = take()
      .then((step) => {
        if (step !== 'nothing') tally.done()
        // Work that was waiting for that can go on at once.
        if (step === 'record') lookedAt.delete(row.id)
      })
      .catch((error) => {
        tally.failed()
        // A call without an answer may have been done or not, and the machine may have changed by it: it is looked at again at once.
        if (!(error instanceof DriverError) && !(error instanceof NotSeenError)) lookedAt.delete(row.id)
        services.log.error({ err: error, vps: row.id }, 'Reconciling a VPS failed')
      })
      .finally(() => {
        busy.delete(row.id)
        underWay[kind]--
        if (toStep.has(row.id)) due.push(row)
        begin()
      })
    busy.set(row.id, done)
  }

  /** Where something is to be done after all, the machine takes its turn for that. */
  async function lookAt(row: VpsToDo): Promise<'nothing'> {
    const at = services.clock.now().getTime()
    const seen = await look(row, observe(row))
    if (seen) toStep.set(row.id, { seen, at })
    return 'nothing'
  }

  const idle = async () => {
    while (busy.size > 0) await Promise.all(busy.values())
  }
  return {
    async pass() {
      const rows = await vpsWithMachines(services.db, tended())
      const live = new Set(rows.map(({ id }) => id))
      for (const seen of [lookedAt, known.samples, toStep])
        for (const id of seen.keys()) if (!live.has(id)) seen.delete(id)
      known.networks.forget((id) => live.has(id))
      observe = observeTogether(services)
      const asked = new Set(
        rows.filter((row) => isDue(row) && isOnlyLookedAt(row)).map(({ host_id }) => host_id),
      )
      // Machines that are only looked at hold up none that wait; of both the one that has waited longest is the next.
      const byWaiting = (a: VpsToDo, b: VpsToDo) => lastLook(b) - lastLook(a)
      due = rows.filter((row) => isDue(row) && !isOnlyLookedAt(row)).sort(byWaiting)
      dueLooks = rows
        .filter((row) => !busy.has(row.id) && isOnlyLookedAt(row) && asked.has(row.host_id))
        .sort(byWaiting)
      begin()
      return tally.report(
        rows.length,
        rows.every((row) => isSteady(row) && !row.has_work && row.move_due_at === null),
      )
    },
    idle,
    end() {
      due = []
      dueLooks = []
      toStep.clear()
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
