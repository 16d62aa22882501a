import { meteredCost } from '@coinrack/money/index.ts'
import type { Client } from '@coinrack/sdk/index.ts'
import { expect } from 'vitest'

export interface Bill {
  /** How long each has run, in milliseconds. */
  ranMs: Map<string, number>
  charged: bigint
}

/**
 * Expects that an account which has nothing running paid for exactly the milliseconds that its sandboxes ran, and that
 * the rest of what came in is there and free.
 */
export async function expectExactBill(
  customer: Client,
  deposited: bigint,
  ids: readonly string[],
): Promise<Bill> {
  const ranMs = new Map<string, number>()
  let due = 0n
  for (const id of ids) {
    const { seconds, cost, price_per_hour } = await customer.getSandbox({ sandbox_id: id })
    const ran = Math.round(seconds * 1000)
    expect(cost).toBe(meteredCost(price_per_hour, ran))
    ranMs.set(id, ran)
    due += cost
  }
  let charged = 0n
  for await (const { kind, amount, held_change } of customer.listTransactions.all({ limit: 100 }))
    if (kind === 'usage') charged -= amount + held_change
  expect(charged).toBe(due)
  expect(await customer.getBalance()).toMatchObject({
    balance: deposited - charged,
    held: 0n,
    total: deposited - charged,
    owed: 0n,
  })
  return { ranMs, charged }
}
