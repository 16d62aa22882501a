import { formatUsd, Usd } from '@coinrack/contract/wire.ts'
import type { CustomerBalance } from './balance.ts'

/** Why a balance does not cover a price, in the form of a 402 body; undefined when it does. */
export function judgeBalance(balance: CustomerBalance, price: bigint, what: string) {
  if (balance.owed === 0n && balance.available >= price) return undefined
  const code = balance.owed > 0n ? ('account_owes' as const) : ('insufficient_balance' as const)
  return {
    code,
    message:
      code === 'account_owes'
        ? `The account owes ${formatUsd(balance.owed)} USD from a reversed payment`
        : `The balance is ${formatUsd(balance.available)} USD; ${what} needs ${formatUsd(price)} USD`,
    fields: {
      required: Usd.encode(price),
      balance: Usd.encode(balance.available),
      shortfall: Usd.encode(balance.owed + price - balance.available),
      currency: 'USD',
      paid_from_balance: false,
      owed: Usd.encode(balance.owed),
    },
  }
}
