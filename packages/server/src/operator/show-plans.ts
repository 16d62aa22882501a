import { formatUsd } from '@coinrack/contract/wire.ts'
import type { Catalog } from '../config/catalog.ts'
import type { Result } from './command.ts'
import { table } from './table.ts'

/** The plans of a catalog, as an operator looks at them. */
export function showPlans({ region, plans }: Catalog): Result {
  const shown = plans.map(({ price, price_hourly, ...plan }) => ({
    ...plan,
    price: formatUsd(price),
    price_hourly: formatUsd(price_hourly),
  }))
  return {
    json: { region, plans: shown },
    text: table(
      ['slug', 'name', 'network', 'vcpus', 'memory_mb', 'disk_gb', 'transfer_gb', 'price', 'price_hourly'],
      shown,
    ),
  }
}
