import { rm } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { stopDetached } from '@coinrack/host/detached-process.ts'
import type { Verdict } from '../machine/acceleration.ts'
import { macAddress } from '../machine/command-line.ts'
import type { ControlGroups } from '../machine/control-groups/control-groups.ts'
import { type Jail, rightsFor } from '../machine/jail.ts'
import type { Guest } from '../machine/machine.ts'
import { giveFolder, type MachineUsers, makeFolder } from '../machine/machine-users.ts'
import type { MachineNetworks } from '../network/machine-networks.ts'
import { closedNetwork, openNetwork, type SandboxNetwork } from '../ports/sandbox-network.ts'
import type { SandboxSize } from '../ports/sandbox-runtime.ts'
import { namesAndPolicyOf } from './network.ts'
import type { Around } from './sandbox-machine.ts'

export interface SandboxWorldOptions {
  users: MachineUsers
  groups: ControlGroups
  networks: MachineNetworks
  jail: Jail
  acceleration(): Promise<Verdict>
  clockOptions: Promise<string[]>
}

/** What is around the machines of sandboxes on this host: users, groups, networks. */
export function createSandboxWorld(options: SandboxWorldOptions) {
  const { users, groups, networks, jail } = options

  const applyNetwork = async (
    { id, folder }: Guest,
    network: SandboxNetwork,
    joinedFiles: () => Promise<string[]>,
  ) => {
    const { policy, names } = namesAndPolicyOf(network)
    if (!(await networks.isPossible())) return
    const rights = names && { user: await users.of(id, folder), limits: await joinedFiles() }
    await networks.make(id, {
      ...{ macAddress: macAddress(id), policy },
      ...(names && { names: { ...names, ...rights } }),
    })
  }
  /** Networks that were made in advance, as they are. */
  const waiting = new Map<string, SandboxNetwork>()
  const networkOf: typeof applyNetwork = async (guest, network, joinedFiles) => {
    const made = waiting.get(guest.id)
    waiting.delete(guest.id)
    if (!isDeepStrictEqual(made, network)) await applyNetwork(guest, network, joinedFiles)
  }
  const folderOf = async (guest: Guest) => {
    // First, as whoever finds it frees what was claimed for it.
    await makeFolder(guest.folder, undefined)
    const user = await users.of(guest.id, guest.folder)
    await giveFolder(guest.folder, user)
    return user
  }

  return {
    /** Of a machine that runs. */
    applyNetwork: (guest: Guest, network: SandboxNetwork) =>
      applyNetwork(guest, network, () => groups.files(guest.id)),

    /** Of a machine that ran while nobody was there: its resolver may have ended, or its rules have been cut short. */
    async keepNetwork(guest: Guest, network = closedNetwork): Promise<void> {
      if (namesAndPolicyOf(network).names && (await networks.isPossible()))
        await this.applyNetwork(guest, network)
    },

    /** What most are given: those that wait have it already, in which nothing runs but what we know. */
    usualNetwork: async () => ((await networks.isPossible()) ? openNetwork : closedNetwork),

    host: async () => ({
      accelerator: (await options.acceleration()).accelerator,
      clockOptions: await options.clockOptions,
      networkKind: (await networks.isPossible()) ? ('tap' as const) : ('user' as const),
    }),

    /** Makes what a machine of any size runs within, with the usual network. */
    async prepare(guest: Guest): Promise<void> {
      const network = await this.usualNetwork()
      await folderOf(guest)
      await applyNetwork(guest, network, async () => [])
      waiting.set(guest.id, network)
    },

    /** Makes all that a machine runs within, its folder included. */
    async surround(guest: Guest, { vcpus, memoryMb }: SandboxSize, network = closedNetwork): Promise<Around> {
      const { accelerator } = await options.acceleration()
      const user = await rightsFor(await folderOf(guest), accelerator)
      const isOwn = await networks.isPossible()
      const made = groups
        .isPossible()
        .then((isPossible) =>
          isPossible
            ? groups.make(guest.id, { vcpus: Math.ceil(vcpus), memoryMb, share: vcpus, isClone: true })
            : [],
        )
      const [limits] = await Promise.all([made, networkOf(guest, network, () => made)])
      return {
        accelerator,
        clockOptions: await options.clockOptions,
        network: isOwn ? { kind: 'tap' } : { kind: 'user' },
        within: isOwn ? networks.enter(guest.id) : [],
        jail: user && (await jail.enter({ folder: guest.folder, user, accelerator })),
        limits,
        user,
      }
    },

    /** Ends the machine, and what it took of the host but its folder. */
    async stop(guest: Guest): Promise<void> {
      waiting.delete(guest.id)
      await stopDetached(guest.pidFile, { signal: 'SIGKILL' })
      // Before its groups, which its resolver is in as well.
      if (await networks.isPossible()) await networks.remove(guest.id)
      if (await groups.isPossible()) await groups.remove(guest.id)
    },

    /** Nothing of the machine is left. */
    async remove(guest: Guest): Promise<void> {
      await this.stop(guest)
      await users.free(guest.id, guest.folder)
      await rm(guest.folder, { recursive: true, force: true })
    },
  }
}

export type SandboxWorld = ReturnType<typeof createSandboxWorld>
