import type { GuestUsage } from '@coinrack/compute/ports/guest-channel.ts'
import { hostOf, type Tended } from '../../platform/machine-host.ts'
import type { PassReport } from '../../platform/pass-report.ts'
import type { Services } from '../../platform/services.ts'
import { observeTogether } from '../machine/observations.ts'
import { levels } from './levels.ts'
import { type Counters, countersOf, type Used, usedSince } from './meter-delta.ts'
import {
  dropOutdated,
  insertSamples,
  lastCounters,
  type MeteredMachine,
  meteredMachines,
  rollUp,
  type Sample,
} from './metric-store.ts'

const STEP_S = levels[0]!.stepSeconds
/** A machine that runs no longer has started since the step before; a reading may come late by less than a step. */
const STARTED_LATELY_MS = 2 * STEP_S * 1000
/** A host answers about many machines at once, but not about all. */
const AT_ONCE = 32
const MIB = 1024 ** 2
/** A machine that answered so lately is only slow when it does not answer now. */
const LATELY_MS = 5 * 60_000
/**
 * An agent that does not answer is asked again after a while, which doubles each time: waiting for it takes time from
 * the others, and an agent may start a little after SSH.
 */
const PAUSES_MS = { first: STEP_S * 1000, longest: 5 * 60_000 }

/** The last usage that machines reported themselves, by id; for callers that show the present moment. */
export type NewestUsage = Map<string, { at: number; memoryMb: number; cpuPercent: number | null }>

/**
 * Keeps what machines use. Takes no input: it may be called at any time, samples each step once, and goes on from the
 * counters that an earlier process wrote down.
 */
export function createSampler(
  services: Services,
  {
    newest = new Map(),
    tended = () => [...services.hosts.keys()],
  }: { newest?: NewestUsage; tended?: Tended } = {},
): { pass(): Promise<PassReport | undefined> } {
  let sampled = 0
  const silences: Silences = new Map()
  let before: Map<string, Counters> | undefined
  const rolledTo = new Map<number, number>()

  async function rollUpAndDrop(now: number): Promise<void> {
    const { db } = services
    for (const level of levels) {
      const to = now - (now % level.stepSeconds)
      if (rolledTo.get(level.index) === to) continue
      const finer = levels[level.index - 1]
      // A process that has just begun does not know how far the one before it came.
      if (finer)
        await rollUp(
          db,
          level,
          rolledTo.get(level.index) ?? firstStep(to - finer.keepSeconds, level.stepSeconds),
          to,
        )
      await dropOutdated(db, level, now)
      rolledTo.set(level.index, to)
    }
  }

  return {
    async pass() {
      const { clock, db } = services
      const now = Math.floor(clock.now().getTime() / 1000)
      const at = now - (now % STEP_S)
      if (at === sampled) return undefined
      sampled = at
      before ??= await lastCounters(db, at - levels[0]!.keepSeconds)
      const machines = await meteredMachines(db, tended())
      const samples = await readAll(services, machines, { before, newest, silences })
      for (const { vpsId, counters } of samples) before.set(vpsId, counters)
      const metered = new Set(machines.map(({ id }) => id))
      for (const known of [before, newest, silences])
        for (const id of known.keys()) if (!metered.has(id)) known.delete(id)
      if (samples.length > 0) await insertSamples(db, at, samples)
      await rollUpAndDrop(at)
      return { seen: machines.length, done: samples.length, failed: 0 }
    },
  }
}

/** The first whole step at or after a time. */
const firstStep = (at: number, stepSeconds: number) => Math.ceil(at / stepSeconds) * stepSeconds

/** Machines that did not answer: until when they are not asked, and how long that pause is. */
type Silences = Map<string, { until: number; pauseMs: number }>

interface Known {
  before: Map<string, Counters>
  newest: NewestUsage
  silences: Silences
}

async function readAll(services: Services, machines: MeteredMachine[], known: Known): Promise<Sample[]> {
  const samples: Sample[] = []
  const look = observeTogether(services)
  const left = machines.values()
  const readSome = async () => {
    for (const machine of left) {
      const sample = await readOne(services, machine, { ...known, look })
      if (sample) samples.push(sample)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, readSome))
  return samples
}

/** Undefined when it does not run, or cannot be asked now: that is a gap, and no reason to miss the others. */
async function readOne(
  services: Services,
  machine: MeteredMachine,
  known: Known & { look: ReturnType<typeof observeTogether> },
): Promise<Sample | undefined> {
  const { clock, log } = services
  const { id: vpsId, vcpus, memory_mb } = machine
  try {
    const seen = await known.look(machine)
    const guest = seen.sshReady ? await askGuest(services, machine, known) : undefined
    const at = clock.now().getTime()
    // It is only slow: what the host sees, between two answers of its own, would look like a jump.
    if (!guest && hasAnsweredLately(known.newest.get(vpsId), at)) return undefined
    const counters = countersOf(seen, at, guest)
    if (!counters) return undefined
    const memoryMb = guest
      ? Math.min(Math.round(guest.memoryUsedBytes / MIB), memory_mb)
      : Math.round(seen.metrics!.memoryBytes / MIB)
    const used = usedSince(known.before.get(vpsId), counters, { vcpus, recentMs: STARTED_LATELY_MS })
    if (guest) known.newest.set(vpsId, { at, memoryMb, cpuPercent: percentOf(used) })
    return { vpsId, memoryMb, counters, used }
  } catch (error) {
    log.warn({ err: error, vps: vpsId }, 'A machine could not be measured')
    return undefined
  }
}

/** The usage by the machine's own kernel; undefined where nothing in it answers. */
async function askGuest(
  services: Services,
  machine: MeteredMachine,
  { newest, silences }: Known,
): Promise<GuestUsage | undefined> {
  const { id } = machine
  const now = services.clock.now().getTime()
  const silence = silences.get(id)
  if (silence && silence.until > now) return undefined
  try {
    const usage = await hostOf(services, machine).guests.usage(id)
    silences.delete(id)
    return usage
  } catch {
    if (hasAnsweredLately(newest.get(id), now)) return undefined
    const pauseMs = silence ? Math.min(2 * silence.pauseMs, PAUSES_MS.longest) : PAUSES_MS.first
    silences.set(id, { until: now + pauseMs, pauseMs })
    return undefined
  }
}

const hasAnsweredLately = (last: { at: number } | undefined, now: number) =>
  last !== undefined && now - last.at < LATELY_MS

const percentOf = (used: Used | undefined) =>
  used?.cpuMs == null || !used.coveredMs ? null : Math.round((used.cpuMs / used.coveredMs) * 1000) / 10
