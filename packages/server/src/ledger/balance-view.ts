import type { Balance } from '@coinrack/contract/balance.ts'
import { runway } from '@coinrack/money/index.ts'
import type { z } from 'zod'
import type { Queryable } from '../database/transaction.ts'
import type { Services } from '../services.ts'
import { readBalance } from './balance.ts'

/** The balance as its owner sees it, and how long it lasts. */
export async function balanceView(
  db: Queryable,
  { ordering, clock }: Services,
  accountId: string,
): Promise<z.output<typeof Balance>> {
  const { available, held, owed } = await readBalance(db, accountId)
  const { burnPerHour } = await ordering.summary(db, accountId)
  const left = runway(available, burnPerHour)
  return {
    balance: available,
    held,
    total: available + held,
    owed,
    currency: 'USD',
    burn_per_hour: burnPerHour,
    runs_out_at: left === undefined ? null : new Date(clock.now().getTime() + left),
  }
}
