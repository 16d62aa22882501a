import type { Balance, balanceFields } from '@coinrack/contract/balance.ts'
import { burnPerHour, type Recurring, type Running, runsOutAt } from '@coinrack/money/index.ts'
import type { z } from 'zod'
import type { Queryable } from '../database/transaction.ts'
import type { Services } from '../platform/services.ts'
import { type CustomerBalance, readBalance } from './balance.ts'

/** How long a balance lasts: an account that owes counts as having none, since nothing renews or continues for it. */
export const lastsUntil = (
  { available, owed }: Pick<CustomerBalance, 'available' | 'owed'>,
  charges: readonly Recurring[],
  running: readonly Running[],
  now: Date,
): Date | undefined => runsOutAt(owed > 0n ? 0n : available, charges, now, running)

/** The balance as its owner sees it, and how long it lasts. */
export async function balanceView(
  db: Queryable,
  services: Services,
  accountId: string,
): Promise<z.output<typeof Balance>> {
  const balance = await readBalance(db, accountId)
  const { available, held, owed } = balance
  const { charges } = await services.ordering.summary(db, services, accountId)
  const { running } = await services.sandboxing.summary(db, accountId)
  return {
    balance: available,
    held,
    total: available + held,
    owed,
    currency: 'USD',
    burn_per_hour: burnPerHour(charges, running),
    runs_out_at: lastsUntil(balance, charges, running, services.clock.now()) ?? null,
  }
}

/** The part of the balance view that belongs in the answer to a change of the balance. */
export async function balanceNow(
  db: Queryable,
  services: Services,
  accountId: string,
): Promise<{ [K in keyof typeof balanceFields]: z.output<typeof Balance>[K] }> {
  const { balance, burn_per_hour, runs_out_at } = await balanceView(db, services, accountId)
  return { balance, burn_per_hour, runs_out_at }
}
