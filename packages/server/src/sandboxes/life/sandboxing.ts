import type { Running } from '@coinrack/money/index.ts'
import type { Sandboxing } from '../../platform/slice-ports.ts'
import { createSandbox } from './create-sandbox.ts'
import { priceOfSandbox } from './price-of-sandbox.ts'
import { sandboxById } from './sandbox-store.ts'
import { paidAnswer } from './start-sandbox.ts'

interface PaidByTime {
  account_id: string
  runs: boolean
  price_hourly: bigint
  seen_at: Date
  held: bigint
}

const RUNS = `(state in ('starting', 'running') or wanted = 'running')`
const LIVE = `wanted <> 'ended' and state not in ('ended', 'failed')`
const PAID_BY_TIME = `select account_id, ${RUNS} as runs, price_hourly, seen_at, held from sandbox`

/** The functions of sandboxes that the other slices use. */
export const sandboxing: Sandboxing = {
  createSandbox,
  priceOfSandbox,
  async startedSandbox(db, services, sandboxId) {
    const row = await sandboxById(db, sandboxId)
    return paidAnswer(db, services, row.account_id, row)
  },
  async summary(db, accountId) {
    const { rows } = await db.query<PaidByTime>({
      name: 'sandbox_summary',
      text: `${PAID_BY_TIME} where account_id = $1 and ${LIVE}`,
      values: [accountId],
    })
    return { live: rows.length, running: rows.filter(({ runs }) => runs).map(runningOf) }
  },
  async running(db) {
    const { rows } = await db.query<PaidByTime>(`${PAID_BY_TIME} where ${RUNS} and ${LIVE}`)
    const ofAccounts = Map.groupBy(rows, ({ account_id }) => account_id)
    return new Map([...ofAccounts].map(([accountId, own]) => [accountId, own.map(runningOf)]))
  },
}

const runningOf = ({ price_hourly, seen_at, held }: PaidByTime): Running => ({
  priceHourly: price_hourly,
  since: seen_at,
  held,
})
