import { setTimeout as sleep } from 'node:timers/promises'
import { machinesOf } from '../test/support/sandbox-traces.ts'
import { cpuTicks } from './processor-time.ts'

const QUIET_MS = 1_000
/** Ticks of processor time of a machine that rests, in that time. */
const MOST_TICKS = 3

/** Waits until the machines of sandboxes in the folder do nothing, as many as wait for their first owner at least. */
export async function untilQuiet(dataFolder: string, least: number): Promise<void> {
  const ticks = async () => {
    const machines = await machinesOf(dataFolder)
    return new Map(await Promise.all(machines.map(async ({ pid }) => [pid, await cpuTicks(pid)] as const)))
  }
  for (let before = await ticks(); ; ) {
    await sleep(QUIET_MS)
    const now = await ticks()
    const rests = [...now].every(([pid, count]) => count - (before.get(pid) ?? 0) <= MOST_TICKS)
    if (now.size >= least && now.size === before.size && rests) return
    before = now
  }
}
