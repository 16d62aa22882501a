/**
 * The time that the service adds to a boot: seconds from `POST /orders` (with a cold boot) to `ssh_ready`,
 * beside the same image booted by hand with
 * the same QEMU options in the same kind of network, until its SSH banner; by hand as a first boot and as a later one.
 *
 *   npm run bench:boot -- [product] [image] [rounds]
 *
 * Only the ratios mean anything on a busy machine; rounds alternate, so that all three see the same load.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { osImages } from '@coinrack/compute/images/catalog.ts'
import { createImageStore } from '@coinrack/compute/images/image-store.ts'
import { waitForSsh } from '@coinrack/sdk/index.ts'
import { newCustomer } from '../test/support/order-life.ts'
import { startService } from '../test/support/running-service.ts'
import { createHand, median, secondsSince } from './by-hand.ts'

const [product = 'nano', os = 'debian-12', rounds = '5'] = process.argv.slice(2)
const cacheFolder = process.env.COINRACK_CACHE ?? '/var/cache/coinrack'

console.log('Starting a service; the first time on a machine, its images are built')
const service = await startService()
try {
  const customer = await newCustomer(service, '500')
  const plan = (await customer.listPlans({})).items.find(({ slug }) => slug === product)
  const osId = osImages.find(({ slug }) => slug === os)?.osId
  if (!plan || !osId) throw new Error(`No plan ${product} or no image ${os}`)
  const image = await createImageStore({ cacheFolder }).ensure(os, console.log)
  const hand = await createHand(image, cacheFolder)
  const shape = { vcpus: plan.vcpus, memoryMb: plan.memory_mb, diskGb: plan.disk_gb }

  const results = { ordered: [] as number[], first: [] as number[], later: [] as number[] }
  for (let round = 1; round <= Number(rounds); round++) {
    const begin = performance.now()
    const { service_id } = await customer.orderVps({ product, os_id: osId, boot: 'cold' })
    const { hostname } = await waitForSsh(customer, service_id!)
    const ordered = secondsSince(begin)
    await customer.cancelService({ service_id: service_id!, mode: 'immediate', confirm: hostname })
    while ((await customer.getVpsStatus({ service_id: service_id! })).status !== 'deleted') await sleep(500)
    const measured = { ordered, ...(await hand.boot(shape)) }
    for (const name of ['ordered', 'first', 'later'] as const) results[name].push(measured[name])
    console.log(`round ${round}:`, measured)
  }

  const [ordered, first, later] = [median(results.ordered), median(results.first), median(results.later)]
  console.log(
    `\n${os}, ${hand.accelerator}, ${plan.vcpus} vCPU, ${plan.memory_mb} MB, median of ${rounds}, seconds`,
  )
  console.log(`POST /orders -> ssh_ready       ${ordered.toFixed(1)}`)
  console.log(`by hand, first boot -> banner   ${first.toFixed(1)}   ratio ${(ordered / first).toFixed(2)}`)
  console.log(`by hand, later boot -> banner   ${later.toFixed(1)}   ratio ${(ordered / later).toFixed(2)}`)
} finally {
  await service.stop()
}
