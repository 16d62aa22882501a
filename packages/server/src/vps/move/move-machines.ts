import type { PassReport } from '../../platform/pass-report.ts'
import type { Services } from '../../platform/services.ts'
import { leaveHosts } from './leave-hosts.ts'
import { isAnyMoveWanted } from './move-store.ts'
import { placeMoves } from './place-moves.ts'

/** Decides where machines move to; the reconciler moves them. Takes no input, and may run in several processes at once. */
export async function moveMachines(services: Services): Promise<PassReport> {
  if (!(await isAnyMoveWanted(services.db))) return { seen: 0, done: 0, failed: 0, isIdle: true }
  const left = await leaveHosts(services)
  const placed = await placeMoves(services)
  return { seen: left.seen + placed.seen, done: left.done + placed.done, failed: 0 }
}
