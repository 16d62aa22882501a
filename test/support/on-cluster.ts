import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { IncusClient } from '@coinrack/compute/incus/client.ts'
import { labFiles, labNetwork } from '@coinrack/compute/incus/testing-lab.ts'
import type { Client } from '@coinrack/sdk/index.ts'
import { expect } from 'vitest'

/**
 * Writes the file that describes the cluster of the laboratory.
 * @param joined members besides the three, by number
 * @returns where it is
 */
export async function writeClusterFile(
  client: IncusClient,
  folder: string,
  joined: readonly number[] = [],
): Promise<string> {
  const file = join(folder, 'cluster.json')
  const { bridge, prefixLength, gateway, resolver, ipv6 } = labNetwork
  const cluster = {
    name: 'lab',
    region: 'lab',
    members: {
      ...Object.fromEntries(client.members.map(({ name, url }) => [name, url])),
      ...Object.fromEntries(joined.map((n) => [`node${n}`, `https://10.77.0.${n}:8443`])),
    },
    storage_pool: 'cow',
    ...labFiles(),
    network: {
      bridge,
      prefix_length: prefixLength,
      gateway,
      resolver,
      addresses: '10.77.200.1-10.77.200.50',
      ipv6: { prefix: '2001:db8:77::/64', gateway: ipv6.gateway },
    },
    // Under emulation the kernel cannot calibrate the clock of the processor.
    instance_config: { 'smbios11.tsc_early_khz': '2599998 tsc=reliable fsck.mode=skip' },
  }
  await writeFile(file, JSON.stringify(cluster))
  return file
}

/** Orders a VPS on the cluster as soon as its images are there. @returns its id */
export async function orderOnCluster(customer: Client, hostname: string, publicKey: string): Promise<string> {
  const wanted = { product: 'micro-ip', os_id: 1, region: 'lab', hostname, ssh_key: publicKey }
  for (;;) {
    const answer = await customer.orderVps(wanted).catch((error: { code: string }) => error)
    if ('service_id' in answer) return answer.service_id!
    expect(answer.code).toMatch(/^(capacity|os_not_supported)$/)
    await sleep(2_000)
  }
}
