/**
 * The time that a cluster adds to a boot: seconds from `POST /orders` to `ssh_ready` on a member of the laboratory, beside the same on
 * the service's own host (with a cold boot), and beside the same image booted by hand until its SSH banner.
 *
 *   deploy/incus-lab/lab.sh up; npm run bench:cluster -- [rounds]
 *
 * Only the ratios mean anything on a busy machine; rounds alternate, so that all three see the same load.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeSshKey } from '@coinrack/cli/ssh.ts'
import { createImageStore } from '@coinrack/compute/images/image-store.ts'
import { labClient } from '@coinrack/compute/incus/testing-lab.ts'
import { waitForSsh } from '@coinrack/sdk/index.ts'
import { orderOnCluster, writeClusterFile } from '../test/support/on-cluster.ts'
import { newCustomer } from '../test/support/order-life.ts'
import { startService } from '../test/support/running-service.ts'
import { createHand, median, secondsSince } from './by-hand.ts'

const [rounds = '3'] = process.argv.slice(2)
const cacheFolder = process.env.COINRACK_CACHE ?? '/var/cache/coinrack'
/** The size of the plans `micro` and `micro-ip`. */
const shape = { vcpus: 1, memoryMb: 1024, diskGb: 20 }

const folder = await mkdtemp('/tmp/coinrack-bench-')
const client = labClient()
console.log('Starting a service; the first time on a machine, its images are built')
const service = await startService({ COINRACK_CLUSTER: await writeClusterFile(client, folder) })
try {
  const customer = await newCustomer(service, '500')
  const { publicKey } = await makeSshKey(folder)
  const image = await createImageStore({ cacheFolder }).ensure('debian-12', console.log)
  const hand = await createHand(image, cacheFolder)
  const timed = async (order: () => Promise<string>) => {
    const begin = performance.now()
    const service_id = await order()
    const { hostname } = await waitForSsh(customer, service_id, { reveal: false })
    const seconds = secondsSince(begin)
    await customer.cancelService({ service_id, mode: 'immediate', confirm: hostname })
    while ((await customer.getVpsStatus({ service_id, reveal: false })).status !== 'deleted') await sleep(500)
    return seconds
  }
  const onCluster = () => timed(() => orderOnCluster(customer, 'cluster', publicKey))
  const onHost = () =>
    timed(async () => (await customer.orderVps({ product: 'micro', os_id: 1, boot: 'cold' })).service_id!)

  // The first use of an image on a member takes seconds more.
  for (let member = 0; member < 3; member++) await onCluster()
  const results = { cluster: [] as number[], host: [] as number[], hand: [] as number[] }
  for (let round = 1; round <= Number(rounds); round++) {
    const measured = {
      cluster: await onCluster(),
      host: await onHost(),
      hand: (await hand.boot(shape)).first,
    }
    for (const name of ['cluster', 'host', 'hand'] as const) results[name].push(measured[name])
    console.log(`round ${round}:`, measured)
  }
  const [cluster, host, byHand] = [median(results.cluster), median(results.host), median(results.hand)]
  console.log(`\ndebian-12, ${shape.vcpus} vCPU, ${shape.memoryMb} MB, median of ${rounds}, seconds`)
  console.log(`POST /orders -> ssh_ready on the cluster   ${cluster.toFixed(1)}`)
  console.log(
    `the same on the service's own host         ${host.toFixed(1)}   ratio ${(cluster / host).toFixed(2)}`,
  )
  console.log(
    `by hand, first boot -> banner              ${byHand.toFixed(1)}   ratio ${(cluster / byHand).toFixed(2)}`,
  )
} finally {
  await service.stop()
  await client.close()
  await rm(folder, { recursive: true })
}
