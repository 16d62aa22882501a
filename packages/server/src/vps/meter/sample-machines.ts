import type { Services } from '../../services.ts'
import { levels } from './levels.ts'
import { type Counters, countersOf, usedSince } from './meter-delta.ts'
import { dropOutdated, insertSamples, lastCounters, meteredIds, rollUp, type Sample } from './metric-store.ts'

const STEP_S = levels[0]!.stepSeconds
/** A machine that runs no longer has started since the step before; a reading may come late by less than a step. */
const STARTED_LATELY_MS = 2 * STEP_S * 1000
/** A host answers about many machines at once, but not about all. */
const AT_ONCE = 32
const MIB = 1024 ** 2

/**
 * Keeps what machines use. Takes no input: it may be called at any time, samples each step once, and goes on from the
 * counters that an earlier process wrote down.
 */
export function createSampler(services: Services): { pass(): Promise<void> } {
  let sampled = 0
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
      if (at === sampled) return
      sampled = at
      before ??= await lastCounters(db, at - levels[0]!.keepSeconds)
      const ids = await meteredIds(db)
      const samples = await readAll(services, ids, before)
      for (const { vpsId, counters } of samples) before.set(vpsId, counters)
      const metered = new Set(ids)
      for (const id of before.keys()) if (!metered.has(id)) before.delete(id)
      if (samples.length > 0) await insertSamples(db, at, samples)
      await rollUpAndDrop(at)
    },
  }
}

/** The first whole step at or after a time. */
const firstStep = (at: number, stepSeconds: number) => Math.ceil(at / stepSeconds) * stepSeconds

async function readAll(services: Services, ids: string[], before: Map<string, Counters>): Promise<Sample[]> {
  const samples: Sample[] = []
  const left = ids.values()
  const readSome = async () => {
    for (const vpsId of left) {
      const sample = await readOne(services, vpsId, before.get(vpsId))
      if (sample) samples.push(sample)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, readSome))
  return samples
}

/** Undefined when it does not run, or cannot be asked now: that is a gap, and no reason to miss the others. */
async function readOne(
  { driver, clock, log }: Services,
  vpsId: string,
  before: Counters | undefined,
): Promise<Sample | undefined> {
  try {
    const seen = await driver.observe(vpsId)
    const counters = countersOf(seen, clock.now().getTime())
    if (!counters) return undefined
    const memoryMb = Math.round(seen.metrics!.memoryBytes / MIB)
    return { vpsId, memoryMb, counters, used: usedSince(before, counters, STARTED_LATELY_MS) }
  } catch (error) {
    log.warn({ err: error, vps: vpsId }, 'A machine could not be measured')
    return undefined
  }
}
