import type { State } from './state.ts'

const HOURS_OF_A_MONTH = 730n

/** What an hour costs of what renews itself and of what runs, in micro-USD: months over 730 hours, rounded up once. */
export function burnPerHour(state: State, accountId: string): bigint {
  let [hourly, monthly] = [0n, 0n]
  for (const { accountId: owner, view, runsSince } of state.sandboxes.values())
    if (owner === accountId && runsSince !== undefined) hourly += view.price_per_hour
  for (const { accountId: owner, view } of state.vps.values()) {
    const { billing, status } = view
    if (owner !== accountId || !billing?.auto_renew || status === 'deleted' || status === 'failed') continue
    if (billing.cancel_at_period_end) continue
    if (billing.cycle === 'hourly') hourly += billing.price
    else monthly += billing.price
  }
  return hourly + (monthly + HOURS_OF_A_MONTH - 1n) / HOURS_OF_A_MONTH
}
