import type { VpsObservation } from '@coinrack/compute/ports/vps-driver.ts'
import type { Metrics } from '../../dispatch/read-models.ts'
import { batched } from '../../platform/batched.ts'
import type { Services } from '../../platform/services.ts'
import { recordObservations } from './machine-store.ts'
import { planVps } from './plan-vps.ts'
import { isAsSeen, isNetworkDue, type Known, notSeen, observationOf } from './reconcile-one.ts'
import { type VpsToDo, vpsByIds } from './vps-store.ts'

/** Looks at one machine. @returns what was seen of it, where something is to be done with it */
type Look = (machine: VpsToDo, seen: Promise<VpsObservation>) => Promise<VpsObservation | undefined>

/** Looks at machines of which nothing is wanted: those of one moment are read, and written down, in one statement each. */
export function createLook({ db, clock }: Services, known: Known): Look {
  const read = batched((ids: string[]) => vpsByIds(db, ids))
  const record = batched(async (seen: { id: string; observation: Metrics }[]) => {
    await recordObservations(db, seen)
    return []
  })
  return async (before, look) => {
    const seen = await look.catch(notSeen)
    // Read after the machine was seen, so that a wish of the meantime is not overlooked.
    const row = await read(before.id)
    if (!isAsSeen(row, before)) return undefined
    const now = clock.now()
    const isAtRest =
      (seen.boot ?? 0) <= row.done_boot &&
      !row.has_work &&
      !isNetworkDue(known.networks, row) &&
      planVps(row, seen, now).do === 'nothing'
    if (!isAtRest) return seen
    if (row.status === 'active')
      await record({ id: row.id, observation: observationOf(known, row, seen, now) })
    return undefined
  }
}
