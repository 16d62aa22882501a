import { isIP } from 'node:net'
import { isAbsolute } from 'node:path'
import { DEFAULT_PARENT } from '@coinrack/compute/machine/control-groups/control-groups.ts'
import { defaultUserIds, type UserIds } from '@coinrack/compute/machine/machine-users.ts'
import { defaultEgress, type EgressPolicy } from '@coinrack/compute/network/machine-ruleset.ts'
import { z } from 'zod'

/** The settings of a host, which the service has by the same names for its own computer. */
export interface Settings {
  dataFolder: string
  cacheFolder: string
  userIds: UserIds
  controlGroup: string
  egress: EgressPolicy
  /** How many sandboxes at most are made in advance. */
  pool: number
}

/** A setting that has no such value, in words for who sits at the machine. */
export class SettingError extends Error {
  override name = 'SettingError'
}

const Folder = z.string().refine(isAbsolute, 'expected an absolute path')
const Whole = (lowest: number, highest: number) => z.coerce.number<string>().int().min(lowest).max(highest)
const List = z.string().transform((text) => text.split(/[\s,]+/).filter((each) => each !== ''))
const Network = z
  .string()
  .refine((text) => isIP(text.split('/')[0]!) !== 0, 'expected networks such as 10.0.0.0/8')

const Environment = z.object({
  COINRACK_DATA: Folder.default('/var/lib/coinrack'),
  COINRACK_CACHE: Folder.default('/var/cache/coinrack'),
  COINRACK_GUEST_USERS: z
    .string()
    .regex(/^\d{4,10}-\d{4,10}$/, 'expected two numbers such as 2000000000-2000065535')
    .default(`${defaultUserIds.from}-${defaultUserIds.to}`),
  COINRACK_GUEST_CONTROL_GROUP: z.string().startsWith('/').default(DEFAULT_PARENT),
  COINRACK_GUEST_BLOCKED_NETWORKS: List.pipe(z.array(Network)).default(defaultEgress.blockedNetworks),
  COINRACK_GUEST_BLOCKED_PORTS: List.pipe(z.array(Whole(1, 65_535))).default(defaultEgress.blockedPorts),
  COINRACK_GUEST_RESOLVERS: List.pipe(z.array(z.ipv4())).default(defaultEgress.resolvers),
  COINRACK_GUEST_BANDWIDTH: Whole(1, 100_000).default(defaultEgress.bandwidthMbit),
  COINRACK_SANDBOX_POOL: Whole(0, 100).default(4),
})

/** @throws SettingError */
export function readSettings(environment: Record<string, string | undefined>): Settings {
  const given = Object.fromEntries(Object.entries(environment).filter(([, text]) => text))
  const read = Environment.safeParse(given)
  if (!read.success) {
    const [{ path, message }] = read.error.issues as [z.core.$ZodIssue]
    throw new SettingError(`${path[0] as string}: ${message}`)
  }
  const { data } = read
  const [from, to] = data.COINRACK_GUEST_USERS.split('-').map(Number) as [number, number]
  return {
    dataFolder: data.COINRACK_DATA,
    cacheFolder: data.COINRACK_CACHE,
    userIds: { from, to },
    controlGroup: data.COINRACK_GUEST_CONTROL_GROUP,
    egress: {
      blockedNetworks: data.COINRACK_GUEST_BLOCKED_NETWORKS,
      blockedPorts: data.COINRACK_GUEST_BLOCKED_PORTS,
      resolvers: data.COINRACK_GUEST_RESOLVERS,
      bandwidthMbit: data.COINRACK_GUEST_BANDWIDTH,
    },
    pool: data.COINRACK_SANDBOX_POOL,
  }
}
