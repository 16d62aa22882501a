import { rm } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { stopDetached } from '@coinrack/host/detached-process.ts'
import type { Verdict } from '../machine/acceleration.ts'
import { macAddress } from '../machine/command-line.ts'
import type { ControlGroups } from '../machine/control-groups/control-groups.ts'
import { type Jail, rightsFor } from '../machine/jail.ts'
import type { Machine } from '../machine/machine.ts'
import { giveFolder, type MachineUsers, makeFolder } from '../machine/machine-users.ts'
import type { MachineNetworks } from '../network/machine-networks.ts'
import { closedNetwork, openNetwork, type SandboxNetwork } from '../ports/sandbox-network.ts'
import type { SandboxSize } from '../ports/sandbox-runtime.ts'
import { namesAndPolicyOf } from './network.ts'
import type { Around } from './sandbox-machine.ts'

export interface HostResourcesOptions {
  users: MachineUsers
  groups: ControlGroups
  networks: MachineNetworks
  jail: Jail
  acceleration(): Promise<Verdict>
  clockOptions: Promise<string[]>
}

/** The resources around the machines of sandboxes on this host: users, groups, networks. */
export function createHostResources(options: HostResourcesOptions) {
  const { users, groups, networks, jail } = options

  const applyNetwork = async (
    { id, folder }: Machine,
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
  const networkOf: typeof applyNetwork = async (qemu, network, joinedFiles) => {
    const made = waiting.get(qemu.id)
    waiting.delete(qemu.id)
    if (!isDeepStrictEqual(made, network)) await applyNetwork(qemu, network, joinedFiles)
  }
  const folderOf = async (qemu: Machine) => {
    // First, since whatever is claimed for a machine is freed by its folder.
    await makeFolder(qemu.folder, undefined)
    const user = await users.of(qemu.id, qemu.folder)
    await giveFolder(qemu.folder, user)
    return user
  }

  return {
    /** Applies the network of a machine that runs. */
    applyNetwork: (qemu: Machine, network: SandboxNetwork) =>
      applyNetwork(qemu, network, () => groups.files(qemu.id)),

    /**
     * Restores the network of a machine that ran while no service did: its resolver may have ended, or its rules have
     * been cut short.
     */
    async keepNetwork(qemu: Machine, network = closedNetwork): Promise<void> {
      if (namesAndPolicyOf(network).names && (await networks.isPossible()))
        await this.applyNetwork(qemu, network)
    },

    /** The network that most sandboxes get: waiting machines have it already, since only known programs run in them. */
    usualNetwork: async () => ((await networks.isPossible()) ? openNetwork : closedNetwork),

    host: async () => ({
      accelerator: (await options.acceleration()).accelerator,
      clockOptions: await options.clockOptions,
      networkKind: (await networks.isPossible()) ? ('tap' as const) : ('user' as const),
    }),

    /** Makes what a machine of any size runs within, with the usual network. */
    async prepare(qemu: Machine): Promise<void> {
      const network = await this.usualNetwork()
      await folderOf(qemu)
      await applyNetwork(qemu, network, async () => [])
      waiting.set(qemu.id, network)
    },

    /** Makes all that a machine runs within, its folder included. */
    async surround(
      qemu: Machine,
      { vcpus, memoryMb }: SandboxSize,
      network = closedNetwork,
    ): Promise<Around> {
      const { accelerator } = await options.acceleration()
      const user = await rightsFor(await folderOf(qemu), accelerator)
      const isOwn = await networks.isPossible()
      const made = groups
        .isPossible()
        .then((isPossible) =>
          isPossible
            ? groups.make(qemu.id, { vcpus: Math.ceil(vcpus), memoryMb, share: vcpus, isClone: true })
            : [],
        )
      const [limits] = await Promise.all([made, networkOf(qemu, network, () => made)])
      return {
        accelerator,
        clockOptions: await options.clockOptions,
        network: isOwn ? { kind: 'tap' } : { kind: 'user' },
        within: isOwn ? networks.enter(qemu.id) : [],
        jail: user && (await jail.enter({ folder: qemu.folder, user, accelerator })),
        limits,
        user,
      }
    },

    /** Ends the machine, and what it took of the host but its folder. */
    async stop(qemu: Machine): Promise<void> {
      waiting.delete(qemu.id)
      await stopDetached(qemu.pidFile, { signal: 'SIGKILL' })
      // Before its groups, which its resolver is in as well.
      if (await networks.isPossible()) await networks.remove(qemu.id)
      if (await groups.isPossible()) await groups.remove(qemu.id)
    },

    /** Nothing of the machine is left. */
    async remove(qemu: Machine): Promise<void> {
      await this.stop(qemu)
      await users.free(qemu.id, qemu.folder)
      await rm(qemu.folder, { recursive: true, force: true })
    },
  }
}

export type HostResources = ReturnType<typeof createHostResources>
