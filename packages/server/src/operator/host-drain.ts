import { setHostState } from '../hosts/host-store.ts'
import { endMovesFrom } from '../vps/move/move-store.ts'
import type { Command } from './command.ts'
import { demandHost } from './demand-host.ts'

export const hostDrain: Command = {
  name: 'host drain',
  arguments: '<id>',
  summary:
    'Places no new machine on a host; those that are there go on, and can grow, be reinstalled and come back',
  takes: 1,
  async run(operator, [id]) {
    const db = await operator.db()
    await demandHost(db, id!)
    await setHostState(db, id!, 'draining')
    return { json: { id, state: 'draining' }, text: `${id} gets no new machines` }
  },
}

export const hostOpen: Command = {
  name: 'host open',
  arguments: '<id>',
  summary: 'Places machines on a host again; those that were to move away from it stay',
  takes: 1,
  async run(operator, [id]) {
    const db = await operator.db()
    await demandHost(db, id!)
    await setHostState(db, id!, 'open')
    await endMovesFrom(db, id!)
    return { json: { id, state: 'open' }, text: `${id} gets new machines` }
  },
}
