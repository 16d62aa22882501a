import { constants } from 'node:fs'
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandError, runCommand } from '@coinrack/host/run-command.ts'
import { type NetworkPolicy, openPolicy } from '../ports/network-policy.ts'
import { DriverError, type OwnAddresses, type SshAddress } from '../ports/vps-driver.ts'
import {
  GATEWAY,
  linkAddresses,
  linkName,
  namespaceFile,
  namespaceName,
  RESOLVER,
  TAP,
  UPLINK,
} from './addresses.ts'
import { forwardIpv6, LOCK_FILE, loadHostRules } from './host-forwarding.ts'
import { hostResolvers } from './host-resolvers.ts'
import {
  changeElements,
  elementsIn,
  HOST_TABLE,
  hostRuleset,
  leadsTo,
  type PortElement,
  portElements,
  publicPortOf,
  takenElement,
} from './host-ruleset.ts'
import { freeSlot, slotOf, takeSlot } from './link-slots.ts'
import { type EgressPolicy, MACHINE_TABLE, machineRuleset } from './machine-ruleset.ts'
import {
  keepResolver,
  type ResolverRights,
  resolverGroup,
  stopResolver,
  writeNameRules,
} from './name-resolver.ts'
import { forgetOthers, type NameRules, nameTable } from './name-rules.ts'
import { type AddressRouting, addressesAt, changeAddresses, GATEWAY_TABLE } from './own-addresses.ts'
import { withTap } from './take-tap.ts'

/** One machine as its network sees it. */
export interface NetworkSpec {
  macAddress: string
  /** Where its SSH is served on the host; `0.0.0.0` is all addresses. Without: at its own address alone. */
  listen?: SshAddress
  addresses?: OwnAddresses
  policy: NetworkPolicy
  /** Needs a resolver of the machine's own. Without: whatever name is resolved. */
  names?: NameRules & ResolverRights
}

/** Bytes since the machine's network was made. */
export interface Traffic {
  /** Received by the machine. */
  rxBytes: number
  /** Sent by the machine. */
  txBytes: number
}

/**
 * A network of its own for each machine: a namespace that holds its tap and its rules, linked to the host. Needs root.
 * Every call may be repeated and may be cut short by a kill; calls for one machine come one at a time.
 */
export interface MachineNetworks {
  /** Whether this host lets us. Asked once. */
  isPossible(): Promise<boolean>
  /**
   * Makes all of it as the spec says, or changes what is there while the machine runs.
   * Throws `port_taken`, `guest_failed`.
   */
  make(id: string, spec: NetworkSpec): Promise<void>
  /** Whether the machine has a network of its own now. */
  isMade(id: string): Promise<boolean>
  /** Nothing of it is left. An unknown machine is fine. */
  remove(id: string): Promise<void>
  /** The words before the command line of the machine's QEMU. */
  enter(id: string): string[]
  /** Where the host itself reaches the machine's SSH, whatever its owner's firewall says. */
  lookAt(id: string): Promise<SshAddress | undefined>
  traffic(id: string): Promise<Traffic | undefined>
  /** Public ports that lead to machines of this host, also to those of another service. */
  usedPorts(): Promise<ReadonlySet<number>>
}

interface Log {
  info(fields: object, message: string): void
}

const LINK_SCRIPT = join(import.meta.dirname, 'link.sh')
const ADDRESSES_SCRIPT = join(import.meta.dirname, 'addresses.sh')
const ADDRESSES6_SCRIPT = join(import.meta.dirname, 'addresses6.sh')
const SSH_PORT = 22

/** @param wanted without resolvers, names are resolved where this host resolves them */
export function createMachineNetworks(
  wanted: EgressPolicy,
  log: Log,
  routing: AddressRouting = {},
): MachineNetworks {
  let possible: Promise<boolean> | undefined
  let completed: Promise<EgressPolicy> | undefined
  let hostReady: Promise<void> | undefined
  let ipv6Ready: Promise<void> | undefined
  const links = new Map<string, number>()

  const slotFor = async (id: string) => {
    const slot = links.get(id) ?? (await slotOf(id))
    if (slot !== undefined) links.set(id, slot)
    return slot
  }
  const completeEgress = () => {
    completed ??= wanted.resolvers.length > 0 ? Promise.resolve(wanted) : withHostResolvers(wanted)
    return completed
  }
  const prepareHost = () => {
    hostReady ??= loadHostRules().catch((error) => {
      hostReady = undefined
      throw error
    })
    return hostReady
  }
  const prepareIpv6 = () => {
    ipv6Ready ??= forwardIpv6().catch((error) => {
      ipv6Ready = undefined
      throw error
    })
    return ipv6Ready
  }

  return {
    isPossible() {
      possible ??= completeEgress().then((egress) => tryOut(egress, log))
      return possible
    },

    async make(id, { macAddress, listen, addresses = {}, policy, names }) {
      await prepareHost()
      if (addresses.ipv6) await prepareIpv6()
      const egress = await completeEgress()
      const slot = await takeSlot(id)
      links.set(id, slot)
      const { host, machine } = linkAddresses(slot)
      await run('make the namespace', () => link('up', id, [host, machine, GATEWAY, RESOLVER, TAP, UPLINK]))
      // Before the rules, which lead there.
      if (names) await run('resolve its names', () => resolve(id, names, egress.resolvers))
      const rules = machineRuleset({
        macAddress,
        hostEnd: host,
        addresses,
        firewall: policy.firewall,
        egress,
        ...(names && { resolverGroup: resolverGroup(names) }),
      })
      await run('load its rules', async () =>
        nftIn(id, ['-f', '-'], rules + (names ? await forgottenNames(id, names) : '')),
      )
      if (!names) await stopResolver(id)
      await run('limit its bandwidth', () => limitBandwidth(id, egress.bandwidthMbit))
      // A machine without an address has none to take away: an address belongs to a machine for its whole life.
      if (addresses.ipv4) await run('lead its address to it', () => route(id, machine, addresses, routing))
      if (addresses.ipv6) await run('lead its IPv6 address to it', () => route6(id, addresses, routing))
      await run('let its addresses through', () => admit(id, addresses))
      await leadPorts(machine, listen ? portElements(listen, policy.ports, machine) : [])
    },

    async usedPorts() {
      return new Set((await elements()).map(publicPortOf))
    },

    async isMade(id) {
      return (await slotFor(id)) !== undefined && (await exists(namespaceFile(id)))
    },

    async remove(id) {
      links.delete(id)
      await removeNetwork(id)
    },

    enter: withTap,

    async lookAt(id) {
      const slot = await slotFor(id)
      if (slot === undefined || !(await exists(namespaceFile(id)))) return undefined
      return { host: linkAddresses(slot).machine, port: SSH_PORT }
    },

    async traffic(id) {
      const counter = async (name: string) =>
        Number(await readFile(`/sys/class/net/${linkName(id)}/statistics/${name}`, 'utf8'))
      try {
        // The link's other end is the machine: what the host receives, the machine sent.
        const [txBytes, rxBytes] = await Promise.all([counter('rx_bytes'), counter('tx_bytes')])
        return { rxBytes, txBytes }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
    },
  }
}

/** Removes all that a machine's network is, also after a kill at any step of making it. Needs root. */
export async function removeNetwork(id: string): Promise<void> {
  await stopResolver(id)
  const slot = await slotOf(id)
  if (slot === undefined) return
  const { machine } = linkAddresses(slot)
  const change = changeElements((await elements()).filter(leadsTo(machine)), [])
  if (change) await runCommand('nft', ['-f', '-'], { input: change })
  await admit(id, {})
  await route(id, machine, {}, {})
  await route6(id, {}, {})
  await link('down', id)
  await freeSlot(slot, id)
}

/** Loads the real rules in a namespace that ends with the command: nothing stays, and nothing is guessed. */
async function tryOut(egress: EgressPolicy, log: Log): Promise<boolean> {
  if (process.getuid?.() !== 0) return false
  const example = { macAddress: '52:54:00:00:00:00', hostEnd: '192.0.2.1' }
  const rules = machineRuleset({ ...example, firewall: openPolicy.firewall, egress })
  const script = `ip tuntap add ${TAP} mode tap; ip link add ${UPLINK} type veth; nft -f -; perl -e 1`
  return runCommand('unshare', ['--net', 'sh', '-ec', script], {
    input: rules + hostRuleset({ ipv4: false, ipv6: false }),
  }).then(
    () => true,
    (error: Error) => {
      log.info({ err: error }, 'Machines get no network of their own')
      return false
    },
  )
}

async function withHostResolvers(egress: EgressPolicy): Promise<EgressPolicy> {
  return { ...egress, resolvers: await hostResolvers() }
}

const link = (verb: 'up' | 'down', id: string, rest: string[] = []) =>
  runCommand('flock', [LOCK_FILE, 'sh', LINK_SCRIPT, verb, namespaceName(id), linkName(id), ...rest])

/** Makes the address lead to the machine's link, and no other. */
const route = (id: string, machineEnd: string, { ipv4 }: OwnAddresses, { bridge, gateway }: AddressRouting) =>
  runCommand('flock', [
    ...[LOCK_FILE, 'sh', ADDRESSES_SCRIPT, linkName(id), machineEnd],
    ...[bridge ?? '-', gateway ?? '-', String(GATEWAY_TABLE), ...(ipv4 ? [ipv4] : [])],
  ])

const route6 = (id: string, { ipv6 }: OwnAddresses, { bridge }: AddressRouting) =>
  runCommand('flock', [
    ...[LOCK_FILE, 'sh', ADDRESSES6_SCRIPT, linkName(id), namespaceName(id)],
    ...[bridge ?? '-', TAP, UPLINK, ...(ipv6 ? [ipv6] : [])],
  ])

/** Lets packets to the addresses through to the machine's link, and to no others. */
async function admit(id: string, addresses: OwnAddresses): Promise<void> {
  const listing = await listTable()
  const present = listing ? addressesAt(linkName(id), listing) : []
  const change = changeAddresses(linkName(id), present, addresses)
  if (change) await runCommand('nft', ['-f', '-'], { input: change })
}

/** A bucket of a hundredth of a second, so that a burst is a burst of packets. */
async function limitBandwidth(id: string, megabits: number): Promise<void> {
  const burst = Math.max(65_536, Math.round((megabits * 1_000_000) / 8 / 100))
  const commands = [TAP, UPLINK].map(
    (device) => `qdisc replace dev ${device} root tbf rate ${megabits}mbit burst ${burst} latency 50ms\n`,
  )
  await runCommand('tc', ['-n', namespaceName(id), '-batch', '-'], { input: commands.join('') })
}

async function leadPorts(machineEnd: string, wanted: PortElement[]): Promise<void> {
  const all = await elements()
  const present = all.filter(leadsTo(machineEnd))
  const taken = takenElement(
    all.filter((element) => !present.includes(element)),
    wanted,
  )
  if (taken) throw portTaken(taken.key)
  const change = changeElements(present, wanted)
  if (!change) return
  await run('lead its ports to it', () =>
    runCommand('nft', ['-f', '-'], { input: change }).catch((error) => {
      // Taken since it was looked at.
      if (error instanceof CommandError && error.stderr.includes('File exists')) throw portTaken(change)
      throw error
    }),
  )
}

const portTaken = (what: string) =>
  new DriverError('port_taken', `Another machine of this host has a port of these: ${what.trim()}`)

/** Whatever leads to a machine of this host. */
async function elements(): Promise<PortElement[]> {
  const listing = await listTable()
  return listing ? elementsIn(listing) : []
}

/** The host's table, where there is one. */
async function listTable(): Promise<string | undefined> {
  const listing = await runCommand('nft', ['-j', 'list', 'table', 'inet', HOST_TABLE]).catch((error) => {
    if (error instanceof CommandError && error.stderr.includes('No such file')) return undefined
    throw error
  })
  return listing?.stdout
}

/** nft in the machine's namespace. */
const nftIn = (id: string, args: string[], input?: string) =>
  runCommand('nsenter', [`--net=${namespaceFile(id)}`, 'nft', ...args], { input })

/** Lets names be resolved as the rules say, from the next one on. */
async function resolve(id: string, names: NameRules & ResolverRights, resolvers: string[]): Promise<void> {
  await writeNameRules(id, names, resolvers, names)
  await nftIn(id, ['-f', '-'], nameTable(MACHINE_TABLE))
  await keepResolver(id, names)
}

/** The commands that take addresses of removed rules out of the sets. */
async function forgottenNames(id: string, names: NameRules): Promise<string> {
  const { stdout } = await nftIn(id, ['-j', 'list', 'table', 'inet', MACHINE_TABLE])
  return forgetOthers(stdout, MACHINE_TABLE, names)
}

const exists = (path: string) =>
  access(path, constants.F_OK).then(
    () => true,
    () => false,
  )

async function run<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof DriverError) throw error
    throw new DriverError('guest_failed', `Could not ${what}: ${(error as Error).message}`, { cause: error })
  }
}
