import type { Balance, balanceFields } from '@coinrack/contract/balance.ts'
import { burnPerHour, runsOutAt } from '@coinrack/money/index.ts'
import type { z } from 'zod'
import type { Queryable } from '../database/transaction.ts'
import type { Services } from '../services.ts'
import { readBalance } from './balance.ts'

/** The balance as its owner sees it, and how long it lasts. */
export async function balanceView(
  db: Queryable,
  services: Services,
  accountId: string,
): Promise<z.output<typeof Balance>> {
  const { available, held, owed } = await readBalance(db, accountId)
  const { charges } = await services.ordering.summary(db, services, accountId)
  return {
    balance: available,
    held,
    total: available + held,
    owed,
    currency: 'USD',
    burn_per_hour: burnPerHour(charges),
    runs_out_at: runsOutAt(available, charges, services.clock.now()) ?? null,
  }
}

/** The part of it that stands in the answer to a change of the balance. */
export async function balanceNow(
  db: Queryable,
  services: Services,
  accountId: string,
): Promise<{ [K in keyof typeof balanceFields]: z.output<typeof Balance>[K] }> {
  const { balance, burn_per_hour, runs_out_at } = await balanceView(db, services, accountId)
  return { balance, burn_per_hour, runs_out_at }
}
