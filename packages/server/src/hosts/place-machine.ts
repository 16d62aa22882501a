import type { VpsFeature } from '@coinrack/contract/features.ts'
import type { Queryable, Transaction } from '../database/transaction.ts'
import { hostOf, type MachineHost } from '../platform/machine-host.ts'
import type { Services } from '../platform/services.ts'
import { freeAddress } from './address-pool.ts'
import { type Candidate, chooseHost, fits, type Share } from './choose-host.ts'
import { type StoredFeature, shownFeatures } from './features.ts'
import { candidates, type Demand, hostsMeeting, type MeetingHost } from './free-share.ts'
import { lockAddresses, lockHost } from './host-store.ts'
import { freePort } from './port-pool.ts'

const SSH_PORT = 22

/** Where a machine is reached: at an address of its own, or at a port of its host's. */
export interface Place {
  host_id: string
  ssh_host: string
  ssh_port: number
  ipv4: string | null
}

/** The needs of a machine that the host it is placed on has to meet. */
export interface Wanted extends Share, Demand {
  network: 'nat' | 'dedicated'
  /** Only a host that has IPv6 addresses to give. */
  ipv6?: boolean
  /** Hosts that turned out to be no use. */
  except?: readonly string[]
}

export type Placing = Pick<Services, 'config' | 'hosts' | 'random'>
type Host = Candidate & { features: StoredFeature[] }

/** Why no machine can be placed. */
export type NoPlace = 'no_room' | 'no_port' | 'no_address'

export interface Placed {
  place: Place
  host: MachineHost
  features: readonly StoredFeature[]
}

/**
 * Places a machine, and holds the lock of its host until the transaction ends: the caller writes the place down in that
 * transaction. The host is chosen without a lock and checked again with it; a host that is full by then is left, and
 * its lock given back, before the next one is tried, so that no order waits for a host while it holds another.
 */
export async function placeMachine(
  tx: Transaction,
  services: Placing,
  wanted: Wanted,
): Promise<Placed | NoPlace> {
  return tryHosts(tx, services, wanted, (chosen) =>
    underLock(tx, services, wanted, chosen, async (now) => {
      if (wanted.network === 'dedicated')
        await lockAddresses(tx, hostOf(services, { host_id: now.id }).network)
      return findPlace(tx, services, now, wanted.network)
    }),
  )
}

/**
 * Chooses another host for a machine that keeps its addresses, as `placeMachine` does.
 * @returns the id of the host
 */
export async function placeElsewhere(
  tx: Transaction,
  services: Placing,
  wanted: Wanted & { cluster: string },
): Promise<{ id: string } | NoPlace> {
  return tryHosts(tx, services, wanted, (chosen) =>
    underLock(tx, services, wanted, chosen, async ({ id }) => ({ id })),
  )
}

/** Looks at a host again with its lock, which is given back where it is no use. */
async function underLock<F extends object>(
  tx: Transaction,
  services: Placing,
  wanted: Wanted,
  chosen: Host,
  find: (now: Host) => Promise<F | NoPlace>,
): Promise<F | NoPlace> {
  await tx.query('savepoint place_machine')
  await lockHost(tx, chosen.id)
  const [now] = await candidates(tx, services, { ...wanted, hostIds: [chosen.id] })
  const found = now && fits(wanted, now) ? await find(now) : 'no_room'
  await tx.query(`${typeof found === 'string' ? 'rollback to' : 'release'} savepoint place_machine`)
  return found
}

/** Whether a machine could be placed now, without any lock. */
export const findRoom = (db: Queryable, services: Placing, wanted: Wanted): Promise<Placed | NoPlace> =>
  tryHosts(db, services, wanted, (chosen) => findPlace(db, services, chosen, wanted.network))

/** The offer of the hosts now, from what is stored of them. */
export interface OfferNow {
  /** Whether some host has room for such a machine. */
  hasRoom(wanted: Wanted): boolean
  /** The features that such a machine has in a region on whichever host it is placed. */
  featuresIn(region: string, wanted: Wanted): VpsFeature[]
}

/** Looks at all hosts once. Nothing is locked. */
export async function offerNow(db: Queryable, services: Placing): Promise<OfferNow> {
  const hosts = await candidates(db, services)
  const withAddress = new Set<string>()
  for (const { id } of hosts) {
    const network = services.hosts.get(id)?.network
    if (network && (await freeAddress(db, network)) !== undefined) withAddress.add(id)
  }
  return {
    hasRoom: (wanted) =>
      hosts.some(
        (host) =>
          isUsable(host, services, wanted) &&
          fits(wanted, host) &&
          (wanted.network === 'nat' || withAddress.has(host.id)),
      ),
    featuresIn(region, wanted) {
      const usable = hosts.filter((host) => host.region === region && isUsable(host, services, wanted))
      const [first, ...others] = usable.map(({ features }) => shownFeatures(features))
      return (first ?? []).filter((feature) => others.every((features) => features.includes(feature)))
    },
  }
}

async function tryHosts<F extends object>(
  db: Queryable,
  services: Placing,
  wanted: Wanted,
  attempt: (chosen: Host) => Promise<F | NoPlace>,
): Promise<F | NoPlace> {
  const meeting = (await hostsMeeting(db, wanted)).filter((host) => isUsable(host, services, wanted))
  const excluded = new Set(wanted.except)
  let why: NoPlace = wanted.network === 'dedicated' && meeting.length === 0 ? 'no_address' : 'no_room'
  for (const hostIds of whereToLook(services, meeting)) {
    const hosts = hostIds.length > 0 ? await candidates(db, services, { ...wanted, hostIds }) : []
    for (;;) {
      const chosen = chooseHost(hosts, wanted, excluded, (below) => randomBelow(services, below))
      if (!chosen) break
      const found = await attempt(chosen)
      if (typeof found !== 'string') return found
      why = found
      excluded.add(chosen.id)
    }
  }
  return why
}

/**
 * Two hosts at random, and only if neither has room all of them: what is taken of a host is a sum over its machines, and to sum up
 * those of all hosts for each order would cost more the more there are.
 */
function whereToLook(services: Placing, meeting: readonly MeetingHost[]): string[][] {
  const all = meeting.map(({ id }) => id)
  if (all.length <= 2) return [all]
  const one = randomBelow(services, all.length)
  const other = (one + 1 + randomBelow(services, all.length - 1)) % all.length
  return [[all[one]!, all[other]!], all]
}

/** Whether the settings still name a host, so that it can be reached, and its machines can have such a network. */
const isUsable = (
  { id, features }: MeetingHost,
  { hosts }: Placing,
  { network, ipv6 = false }: Wanted,
): boolean => {
  const host = hosts.get(id)
  if (!host) return false
  if (ipv6 && (!features.includes('ipv6') || host.network.ipv6Prefix === undefined)) return false
  if (network === 'nat') return features.includes('port_forwarding')
  return features.includes('own_addresses') && host.network.addressPool.length > 0
}

async function findPlace(
  db: Queryable,
  services: Placing,
  { id, features }: Host,
  network: 'nat' | 'dedicated',
): Promise<Placed | NoPlace> {
  const host = hostOf(services, { host_id: id })
  if (network === 'dedicated') {
    const ipv4 = await freeAddress(db, host.network)
    if (ipv4 === undefined) return 'no_address'
    return { host, features, place: { host_id: id, ssh_host: ipv4, ssh_port: SSH_PORT, ipv4 } }
  }
  const ssh_port = await freePort(db, host, randomNumber(services))
  if (ssh_port === undefined) return 'no_port'
  return { host, features, place: { host_id: id, ssh_host: host.network.publicIp, ssh_port, ipv4: null } }
}

/** A random number of 32 bits. */
export const randomNumber = ({ random }: Pick<Services, 'random'>): number =>
  Buffer.from(random.bytes(4)).readUInt32BE()

const randomBelow = (services: Placing, below: number) => randomNumber(services) % below
