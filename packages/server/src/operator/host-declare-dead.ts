import { announce } from '../database/changes.ts'
import { setHostState } from '../hosts/host-store.ts'
import { LOCAL_HOST } from '../platform/machine-host.ts'
import { RECONCILE_VPS } from '../vps/topics.ts'
import { type Command, RefusedError } from './command.ts'
import { demandHost } from './demand-host.ts'

/** A host that has answered within this time is not believed to be dead. */
const SILENT_MS = 60_000

export const hostDeclareDead: Command = {
  name: 'host declare-dead',
  arguments: '<id> --power-is-off',
  summary:
    'Gives up a host whose power is off for good: its VPS start elsewhere where their disks can be read, and end with a credit where not',
  takes: 1,
  options: { 'power-is-off': { type: 'boolean' } },
  async run(operator, [id], options) {
    const db = await operator.db()
    const host = await demandHost(db, id!)
    if (id === LOCAL_HOST)
      throw new RefusedError('The service runs on this host: restore a backup on another one instead')
    const silentMs = host.seen_at ? operator.clock.now().getTime() - host.seen_at.getTime() : SILENT_MS
    if (silentMs < SILENT_MS)
      throw new RefusedError(
        `${id} answered ${Math.round(silentMs / 1000)} seconds ago.\n  Evacuate it (host evacuate ${id}); if it is broken, turn its power off and wait a minute.`,
      )
    if (!options['power-is-off'])
      throw new RefusedError(
        `If ${id} still has power, its ${host.machines} machines may run there and elsewhere at once.\n  Make sure that its power is off and stays off, and say so with --power-is-off.`,
      )
    await setHostState(db, id!, 'dead')
    await announce(db, RECONCILE_VPS)
    return {
      json: { id, state: 'dead', machines: host.machines },
      text: `${id} is given up. Its ${host.machines} machines start on other hosts where their disks can be read without it; the others end, and what was paid for their time since ${host.seen_at?.toISOString() ?? 'now'} is credited.\nhost show ${id} tells how far that is. If it comes back, nothing starts there; host open ${id} lets it have machines again.`,
    }
  },
}
