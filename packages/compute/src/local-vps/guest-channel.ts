import { join } from 'node:path'
import { oneAtATime } from '@coinrack/host/one-at-a-time.ts'
import { guestFiles } from '../machine/command-line.ts'
import { isMachineId } from '../machine/machine-id.ts'
import { type GuestChannel, GuestError } from '../ports/guest-channel.ts'
import { readUsage } from '../ports/guest-usage.ts'
import { createScriptedChannel, type GuestRunner } from '../scripted-guest/scripted-channel.ts'
import { type AgentOptions, askAgent, readByAgent, runInGuest } from './guest-agent.ts'

export interface GuestChannelOptions {
  /** The data folder of the driver. */
  dataFolder: string
  random: GuestRunner['random']
}

/** The figures in a file of the kernel stand at its beginning. */
const USAGE_BYTES = 4096

/** Acts inside the machines of the QEMU driver, by the guest agent that their images have. */
export function createQemuGuestChannel({ dataFolder, random }: GuestChannelOptions): GuestChannel {
  return createAgentChannel((id) => join(dataFolder, 'machines', id, guestFiles.agent), random)
}

/** The same for agents at any sockets. */
export function createAgentChannel(
  socketOf: (id: string) => string,
  random: GuestRunner['random'],
  syncMs?: number,
): GuestChannel {
  const oneByOne = oneAtATime()
  const newMark = () => Buffer.from(random.bytes(4)).readUInt32BE()

  /** QEMU serves one client at a time: a second one would wait for the first, and its time would run. */
  const agentOf = (id: string): AgentOptions => {
    if (!isMachineId(id)) throw new GuestError('guest_away', `There is no machine ${id}`)
    return { path: socketOf(id), newMark, ...(syncMs === undefined ? {} : { syncMs }) }
  }
  const ask: typeof askAgent = (agent, execute, args) =>
    oneByOne(agent.path, () => askAgent(agent, execute, args))

  return {
    ...createScriptedChannel({
      random,
      run: async (id, { env, ...program }) =>
        runInGuest(agentOf(id), ask, {
          ...program,
          env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
        }),
    }),

    async usage(id) {
      const agent = agentOf(id)
      const read = (path: string) => readByAgent(agent, ask, path, USAGE_BYTES)
      return readUsage(await read('/proc/stat'), await read('/proc/meminfo'))
    },

    alive: async (id) =>
      isMachineId(id) &&
      ask(agentOf(id), 'guest-ping').then(
        () => true,
        () => false,
      ),
  }
}
