import type { Operations } from '@coinrack/contract/index.ts'
import type { Output } from '@coinrack/contract/operation.ts'

export type Plan = Output<Operations['listPlans']>['items'][number]

const FEATURES = [
  ...(['firewall', 'ipv6', 'memory_snapshots', 'retained_disks'] as const),
  ...(['serial_console', 'screen', 'rescue', 'guest_commands'] as const),
]
const REGION = 'local'

const image = (os_id: number, version: string, name: string) => ({
  ...{ os_id, name: `Debian ${version} (${name})`, distribution: 'debian', version, arch: 'x86_64' },
  available: true,
})

const plan = (
  slug: string,
  size: Pick<Plan, 'vcpus' | 'memory_mb' | 'disk_gb' | 'price' | 'price_hourly'>,
): Plan => ({
  ...{
    slug,
    name: slug[0]!.toUpperCase() + slug.slice(1),
    description: 'Of the mock',
    network: 'nat',
    ...size,
  },
  ...{
    transfer_gb: 500,
    snapshots: 2,
    currency: 'USD',
    regions: [REGION],
    features: { [REGION]: [...FEATURES] },
  },
  ...{ available: true, os_images: [image(1, '12', 'bookworm'), image(2, '13', 'trixie')] },
})

/** Two plans of the default catalog. */
export const defaultPlans: Plan[] = [
  plan('nano', { vcpus: 1, memory_mb: 512, disk_gb: 10, price: 3_000_000n, price_hourly: 4_500n }),
  plan('micro', { vcpus: 1, memory_mb: 1024, disk_gb: 20, price: 5_000_000n, price_hourly: 7_500n }),
]

export const vpsFeatures = FEATURES
