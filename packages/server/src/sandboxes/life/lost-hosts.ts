import { inTransaction } from '../../database/transaction.ts'
import { givenUp } from '../../hosts/host-store.ts'
import { LOCAL_HOST } from '../../platform/machine-host.ts'
import type { Services } from '../../platform/services.ts'
import { copiedFrom } from '../copies/copy-store.ts'
import { moveToCopy } from '../copies/move-paused.ts'
import { failStart, giveUp } from './end-sandbox.ts'
import { hostsOfSandboxes, loseSandboxes, waitingOn } from './sandbox-store.ts'

const LOOK_MS = 10_000
/** A caller may be waiting for what a host that is away was about to do. */
const START_MS = 30_000
const MINUTE_MS = 60_000

const AWAY = 'Its host cannot be reached'

/**
 * Gives up what hosts that are away were about to do, and ends the sandboxes that ran on one that is away for longer
 * than the operator says. Nobody pays for the time that a host was away. Paused ones that have a copy on another host go
 * on from it when they are resumed; the others wait, as the host may come back, until the operator gives it up. It counts
 * from when this process first missed the host, so that none is lost because the service was down.
 */
export function createLostHosts(services: Services): { pass(): Promise<void> } {
  const { db, clock, config, log } = services
  const awaySince = new Map<string, number>()
  let lookedAt = Number.NEGATIVE_INFINITY

  async function look(hostId: string, now: number, isGivenUp: boolean): Promise<void> {
    const since = awaySince.get(hostId) ?? now
    awaySince.set(hostId, since)
    if (!isGivenUp && now - since < START_MS) return
    for (const row of await waitingOn(db, hostId)) {
      if (row.state === 'starting') await failStart(services, row, AWAY)
      else await giveUp(services, row, AWAY)
    }
    if (!isGivenUp && now - since < config.sandboxHostLostMinutes * MINUTE_MS) return
    for (const sandbox of await copiedFrom(db, hostId)) await moveToCopy(services, sandbox)
    const lost = await inTransaction(db, (tx) => loseSandboxes(tx, hostId, { paused: isGivenUp }))
    if (lost > 0)
      log.error({ host: hostId, sandboxes: lost }, 'A host of sandboxes is lost; what ran on it ends')
  }

  return {
    async pass() {
      const now = clock.now().getTime()
      if (now - lookedAt < LOOK_MS) return
      lookedAt = now
      const hosts = await hostsOfSandboxes(db)
      for (const hostId of awaySince.keys())
        if (services.sandboxes.has(hostId) || !hosts.includes(hostId)) awaySince.delete(hostId)
      const away = hosts.filter((id) => id !== LOCAL_HOST && !services.sandboxes.has(id))
      const ended = await givenUp(db, away)
      for (const hostId of away) await look(hostId, now, ended.has(hostId))
    },
  }
}
