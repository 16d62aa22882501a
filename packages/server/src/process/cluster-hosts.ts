import { readFile } from 'node:fs/promises'
import type { ImageStore } from '@coinrack/compute/images/image-store.ts'
import { createIncusClient } from '@coinrack/compute/incus/client.ts'
import { createIncusConsole } from '@coinrack/compute/incus/console.ts'
import { createIncusDriver } from '@coinrack/compute/incus/driver.ts'
import { createIncusGuestChannel } from '@coinrack/compute/incus/guest-channel.ts'
import { createClusterImages } from '@coinrack/compute/incus/images.ts'
import { createIncusMigration } from '@coinrack/compute/incus/migration.ts'
import { noGuestChannel } from '@coinrack/compute/incus/no-guest-channel.ts'
import { createIncusRetainedDisks } from '@coinrack/compute/incus/retained-disks.ts'
import { createIncusSnapshots } from '@coinrack/compute/incus/snapshots.ts'
import { parseCluster } from '../config/cluster-file.ts'
import type { MachineHost } from '../platform/machine-host.ts'

export interface Cluster {
  name: string
  /** One for each member. */
  hosts: MachineHost[]
  /** Builds the images of these names where they are missing, and imports them. It can take minutes. */
  prepare(slugs: readonly string[], onProgress: (line: string) => void): Promise<void>
  close(): Promise<void>
}

/** The members of an Incus cluster as hosts, from the file that describes it. Nothing is asked of it yet. */
export async function openCluster(
  file: string,
  {
    images: store,
    clock,
    random,
    log,
  }: {
    images: ImageStore
    random: { bytes(length: number): Uint8Array }
    clock: { now(): Date }
    log: { info(fields: object, message: string): void }
  },
): Promise<Cluster> {
  const settings = parseCluster(await readFile(file, 'utf8'), file)
  const { name, region, project, network } = settings
  const [certificate, key, clusterCertificate] = await Promise.all(
    [settings.certificate, settings.key, settings.cluster_certificate].map((path) => readFile(path, 'utf8')),
  )
  const members = Object.entries(settings.members).map(([member, url]) => ({ name: member, url }))
  const client = createIncusClient({
    members,
    project,
    certificate: certificate!,
    key: key!,
    clusterCertificate: clusterCertificate!,
  })
  const images = createClusterImages(client, store)
  const snapshots = createIncusSnapshots(client)
  const retainedDisks = createIncusRetainedDisks(client)
  const console = createIncusConsole(client)
  const migration = createIncusMigration(client)
  const guests = settings.guest_agent ? createIncusGuestChannel(client, random) : noGuestChannel
  const { bridge, prefix_length: prefixLength, gateway, resolver, addresses } = network
  const ipv6 = network.ipv6 && { prefixLength: network.ipv6.prefix.length, gateway: network.ipv6.gateway }
  const hosts = members.map(
    ({ name: member }): MachineHost => ({
      id: `${name}-${member}`,
      kind: 'incus',
      region,
      isRemote: true,
      network: {
        // Machines have addresses of their own; the host's is given to none.
        publicIp: gateway,
        sshPorts: { from: 1, to: 1 },
        addressPool: addresses,
        addressGateway: gateway,
        ipv6Prefix: network.ipv6?.prefix.network,
        sharedPool: name,
      },
      driver: createIncusDriver({
        client,
        member,
        images,
        pool: settings.storage_pool,
        network: { bridge, prefixLength, gateway, resolver, ipv6 },
        guestAgent: settings.guest_agent,
        extraConfig: settings.instance_config,
        clock,
        log,
      }),
      guests,
      console,
      snapshots,
      retainedDisks,
      cluster: { name, member, hasSharedDisks: settings.shared_disks, migration },
    }),
  )
  return {
    name,
    hosts,
    async prepare(slugs, onProgress) {
      for (const slug of slugs) await images.import(slug, onProgress)
    },
    close: () => client.close(),
  }
}
