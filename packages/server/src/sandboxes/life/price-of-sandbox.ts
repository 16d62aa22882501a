import { meteredCost } from '@coinrack/money/index.ts'
import type { Sandboxing } from '../../platform/slice-ports.ts'
import { askHosts } from '../placement/ask-hosts.ts'
import { hostsFor } from '../placement/hosts-for.ts'
import { demandRoom } from '../placement/place-sandbox.ts'
import { chooseNetwork } from './choose-network.ts'
import { chooseTariff, sizeOf } from './choose-size.ts'

/** micro-USD: below it a payment is not worth its gas. It covers the first minute of every tariff. */
const LEAST = 10_000n
/** An id that no account has, for a snapshot without an owner. */
const NOBODY = ''

export const priceOfSandbox: Sandboxing['priceOfSandbox'] = async (services, db, input) => {
  const all = await askHosts(services)
  const { price_per_hour, ...size } = sizeOf(await chooseTariff(db, all, NOBODY, input))
  const network = chooseNetwork(all, input.network)
  const { hosts } = await hostsFor(db, all, { template: input.template, network })
  const { vcpus, memory_mb: memoryMb, disk_gb: diskGb } = size
  await demandRoom(db, services, hosts, { size: { vcpus, memoryMb, diskGb } })
  const cost = meteredCost(price_per_hour, input.timeout * 1000)
  return cost > LEAST ? cost : LEAST
}
