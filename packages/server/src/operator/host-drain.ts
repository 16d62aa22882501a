import { type HostState, setHostState } from '../hosts/host-store.ts'
import { type Command, RefusedError } from './command.ts'

const settingState =
  (state: HostState, text: string): Command['run'] =>
  async (operator, [id]) => {
    const isKnown = await setHostState(await operator.db(), id!, state)
    if (!isKnown) throw new RefusedError(`There is no host ${id}`)
    return { json: { id, state }, text: `${id} ${text}` }
  }

export const hostDrain: Command = {
  name: 'host drain',
  arguments: '<id>',
  summary:
    'Places no new machine on a host; those that are there go on, and can grow, be reinstalled and come back',
  takes: 1,
  run: settingState('draining', 'gets no new machines'),
}

export const hostOpen: Command = {
  name: 'host open',
  arguments: '<id>',
  summary: 'Places machines on a host again',
  takes: 1,
  run: settingState('open', 'gets new machines'),
}
