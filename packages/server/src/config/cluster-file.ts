import { isIP } from 'node:net'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import type { AddressRange } from '../platform/ipv4.ts'
import { addressPool, ipv6Prefix } from './config-values.ts'

const Ipv4 = z.string().refine((text) => isIP(text) === 4, 'Expected an IPv4 address')
const Name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'Expected small letters, digits and hyphens')

/** The length stays beside the first address: machines are told both. */
function prefixOf(text: string, context: z.RefinementCtx) {
  const network = ipv6Prefix.safeParse(text)
  if (network.success && network.data) return { network: network.data, length: Number(text.split('/')[1]) }
  context.addIssue('Expected an IPv6 network of 32 to 64 bits, such as 2001:db8:1:2::/64')
  return z.NEVER
}

const ClusterFile = z.strictObject({
  /** Its hosts are called by it and by the name of the member. */
  name: Name,
  region: z.string().min(1),
  /** Addresses of the API by the name of the member. */
  members: z
    .record(Name, z.url({ protocol: /^https$/ }))
    .refine((members) => Object.keys(members).length > 0, 'Expected at least one member'),
  project: z.string().min(1).default('coinrack'),
  storage_pool: z.string().min(1),
  /** Whether each member can read the disks of all, as with Ceph: machines of a dead one start on others then. */
  shared_disks: z.boolean().default(false),
  /** Whether commands and files inside machines go by the cluster's own agent in them. */
  guest_agent: z.boolean().default(false),
  /** PEM files: of the client whose certificate is restricted to the project, and of the cluster. */
  certificate: z.string().min(1),
  key: z.string().min(1),
  cluster_certificate: z.string().min(1),
  network: z.strictObject({
    bridge: z.string().min(1),
    prefix_length: z.number().int().min(8).max(31),
    gateway: Ipv4,
    resolver: Ipv4,
    /** The addresses that machines get, as in COINRACK_ADDRESS_POOL. */
    addresses: z.string().transform((text, context): AddressRange[] => {
      const ranges = addressPool.safeParse(text)
      if (ranges.success && ranges.data) return ranges.data
      context.addIssue('Expected IPv4 networks, ranges or addresses')
      return z.NEVER
    }),
    /** Every new machine gets an address of this network too, as of COINRACK_ADDRESS_IPV6. */
    ipv6: z.strictObject({ prefix: z.string().transform(prefixOf), gateway: z.ipv6() }).optional(),
  }),
  /** Keys of the configuration that every instance gets besides. */
  instance_config: z.record(z.string(), z.string()).default({}),
})

export type ClusterSettings = z.output<typeof ClusterFile>

/**
 * Reads the settings of an Incus cluster. Paths in the file are relative to it.
 * @throws Error that names each field that is wrong
 */
export function parseCluster(text: string, path: string): ClusterSettings {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new Error(`The cluster ${path} is not JSON: ${(error as Error).message}`)
  }
  const result = ClusterFile.safeParse(json)
  if (!result.success) {
    const problems = result.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`)
    throw new Error(`The cluster ${path} does not hold:\n${problems.join('\n')}`)
  }
  const { data } = result
  const beside = (file: string) => resolve(dirname(path), file)
  return {
    ...data,
    certificate: beside(data.certificate),
    key: beside(data.key),
    cluster_certificate: beside(data.cluster_certificate),
  }
}
