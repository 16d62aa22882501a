import { Gauge, type Registry } from 'prom-client'
import type { Services } from '../platform/services.ts'

interface Measured {
  name: string
  help: string
  /** A second label beside `network`. */
  label?: string
  /** Each value with the value of its label. */
  read(network: string): Iterable<readonly [value: number, label?: string]>
}

/**
 * The payment metrics for the operator, read from the database on each scrape: the heights of each chain, its endpoints,
 * deposits that are not final, payments by signature that are pending, and how many the gas wallet can still pay for.
 */
export function paymentMetrics(services: Services): (registry: Registry) => void {
  return (registry) => {
    let stands = new Map<string, Stand>()
    const of = (network: string) => stands.get(network)
    /** All gauges are collected at the same moment and share one read. */
    let reading: Promise<void> | undefined
    const read = () => {
      reading ??= readStands(services)
        .catch(() => new Map<string, Stand>())
        .then((now) => {
          stands = now
          reading = undefined
        })
      return reading
    }
    const chainOf = (name: string) => services.chains.find(({ settings }) => settings.network === name)
    const measured: Measured[] = [
      {
        name: 'coinrack_chain_endpoint_relied_on',
        help: '1 for an RPC endpoint that is well, 0 for one that fails, lags or contradicts the others',
        label: 'endpoint',
        read: (network) =>
          (chainOf(network)?.port.endpoints() ?? []).map(
            ({ name, trouble }) => [trouble === undefined ? 1 : 0, name] as const,
          ),
      },
      {
        name: 'coinrack_chain_block',
        help: 'Block numbers of a chain: its newest, the newest that is final, and how far it was looked through and read by two endpoints',
        label: 'which',
        read: (network) =>
          Object.entries(of(network)?.blocks ?? {}).map(([which, number]) => [number, which] as const),
      },
      {
        name: 'coinrack_chain_look_age_seconds',
        help: 'Seconds since this service last looked at a chain and got to the end of it',
        read(network) {
          const looked = chainOf(network)?.lookedAt
          return looked ? [[(services.clock.now().getTime() - looked.getTime()) / 1000]] : []
        },
      },
      {
        name: 'coinrack_deposits',
        help: 'Deposits that a chain could still change: seen and not credited, credited and not final, credited on the word of one endpoint',
        label: 'state',
        read: (network) =>
          Object.entries(of(network)?.deposits ?? {}).map(([state, count]) => [count, state] as const),
      },
      {
        name: 'coinrack_deposits_orphaned',
        help: 'Deposits that a chain dropped, of all times',
        read: (network) => [[of(network)?.orphaned ?? 0]],
      },
      {
        name: 'coinrack_x402_sent',
        help: 'Payments by signature of which it is not known yet what came',
        read: (network) => [[of(network)?.sent ?? 0]],
      },
      {
        name: 'coinrack_gas_wallet_settlements_left',
        help: 'Payments by signature that the gas wallet can still send at the present fees; the network is not offered for them at 0',
        read(network) {
          const left = chainOf(network)?.settlementsLeft
          return left === undefined ? [] : [[left]]
        },
      },
    ]
    for (const { name, help, label, read: valuesOf } of measured) {
      new Gauge({
        name,
        help,
        labelNames: ['network', ...(label ? [label] : [])],
        registers: [registry],
        async collect() {
          await read()
          this.reset()
          for (const { settings } of services.chains)
            for (const [value, of] of valuesOf(settings.network))
              this.set({ network: settings.network, ...(label && { [label]: of }) }, value)
        },
      })
    }
  }
}

interface Stand {
  blocks: Record<'head' | 'finalized' | 'scanned' | 'witnessed', number>
  deposits: Record<'seen' | 'credited' | 'unwitnessed', number>
  orphaned: number
  sent: number
}

async function readStands({ db, chains }: Services): Promise<Map<string, Stand>> {
  const { rows } = await db.query<
    Stand['blocks'] & Stand['deposits'] & { chain_id: number; orphaned: number; sent: number }
  >(
    `select chain_id, head_number::integer as head, finalized_number::integer as finalized,
       scanned_number::integer as scanned, witnessed_number::integer as witnessed,
       open.seen, open.credited, open.unwitnessed,
       (select count(*)::integer from deposit where deposit.chain_id = chain_cursor.chain_id and status = 'orphaned') as orphaned,
       (select count(*)::integer from x402_payment paid where paid.chain_id = chain_cursor.chain_id and status = 'sent') as sent
     from chain_cursor, lateral (
       select count(*) filter (where status = 'seen')::integer as seen,
         count(*) filter (where status = 'credited')::integer as credited,
         count(*) filter (where status = 'credited' and not witnessed)::integer as unwitnessed
       from deposit where deposit.chain_id = chain_cursor.chain_id and not final and status <> 'orphaned'
     ) open`,
  )
  return new Map(
    rows.flatMap(
      ({ chain_id, head, finalized, scanned, witnessed, seen, credited, unwitnessed, ...rest }) => {
        const chain = chains.find(({ settings }) => settings.chainId === chain_id)
        if (!chain) return []
        const blocks = { head, finalized, scanned, witnessed }
        const { orphaned, sent } = rest
        return [
          [chain.settings.network, { blocks, deposits: { seen, credited, unwitnessed }, orphaned, sent }],
        ]
      },
    ),
  )
}
