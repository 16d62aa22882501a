import { saveAway, saveCapacity } from '../../hosts/host-store.ts'
import { LOCAL_HOST } from '../../platform/machine-host.ts'
import type { Services } from '../../platform/services.ts'
import { askHost } from '../placement/ask-hosts.ts'

const LOOK_MS = 10_000

/** Writes down for the operator what sandbox hosts have, and which cannot be reached. */
export function createHostNotes(services: Services): { pass(): Promise<void> } {
  const { db, clock, log } = services
  let lookedAt = Number.NEGATIVE_INFINITY
  const note = async (id: string) => {
    const { capacity } = await askHost(services, id)
    await saveCapacity(db, id, capacity, clock.now())
  }
  return {
    async pass() {
      const now = clock.now().getTime()
      if (now - lookedAt < LOOK_MS) return
      lookedAt = now
      const remote = [...services.sandboxes.keys()].filter((id) => id !== LOCAL_HOST)
      await saveAway(db, remote)
      // One that is slow is written down later.
      for (const id of remote)
        void note(id).catch((error) => log.warn({ err: error, host: id }, 'A host did not say what it has'))
    },
  }
}
