import type { HostInventory } from '@coinrack/compute/ports/vps-driver.ts'
import type { MachineHost } from '../platform/machine-host.ts'
import type { PassReport } from '../platform/pass-report.ts'
import type { Services } from '../platform/services.ts'
import { saveInventory, saveTrouble } from './host-store.ts'
import { reapOrphans } from './reap-orphans.ts'

/** A host that has not answered by then is not relied on until it does. */
const ANSWER_MS = 20_000

/**
 * Asks a host what it is and has, and writes it down: requests read that, and never ask. Takes no input; of several
 * answers the last one holds. A host that fails is one on which nothing is placed.
 */
export async function observeHost(
  { db, clock, log }: Pick<Services, 'db' | 'clock' | 'log'>,
  host: MachineHost,
  { answerMs = ANSWER_MS } = {},
): Promise<PassReport> {
  // Before it answers: what changes meanwhile may not be in the answer.
  const at = clock.now()
  let inventory: HostInventory
  try {
    inventory = await answerWithin(answerMs, askTwice(host))
  } catch (error) {
    log.warn(
      { err: error, host: host.id },
      'A host did not say what it has; nothing is placed on it until it does',
    )
    await saveTrouble(db, host, (error as Error).message)
    return { seen: 0, done: 0, failed: 1 }
  }
  await saveInventory(db, host, inventory, at)
  await reapOrphans({ db, clock, log }, host, inventory.machines)
  return { seen: inventory.machines.length, done: 0, failed: 0 }
}

/** One answer that gets lost is no reason to refuse orders until the next look. */
const askTwice = ({ driver }: MachineHost): Promise<HostInventory> =>
  driver.inventory().catch(() => driver.inventory())

async function answerWithin<T>(milliseconds: number, answer: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new Error(`It did not answer within ${milliseconds / 1000} seconds`)),
    milliseconds,
  )
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
