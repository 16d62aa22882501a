import { meteredCost } from '@coinrack/money/index.ts'
import type { Sandboxing } from '../../platform/slice-ports.ts'
import { askHost } from './ask-host.ts'
import { chooseNetwork } from './choose-network.ts'
import { chooseTariff, sizeOf } from './choose-size.ts'
import { demandRoom } from './placement.ts'

/** micro-USD: below it a payment is not worth its gas. It covers the first minute of every tariff. */
const LEAST = 10_000n
/** An id that no account has, for a snapshot without an owner. */
const NOBODY = ''

export const priceOfSandbox: Sandboxing['priceOfSandbox'] = async (services, db, input) => {
  const host = await askHost(services)
  const { price_per_hour, ...size } = sizeOf(await chooseTariff(db, host, NOBODY, input))
  chooseNetwork(host, input.network)
  const { vcpus, memory_mb: memoryMb, disk_gb: diskGb } = size
  await demandRoom(db, services, host.capacity, { vcpus, memoryMb, diskGb })
  const cost = meteredCost(price_per_hour, input.timeout * 1000)
  return cost > LEAST ? cost : LEAST
}
