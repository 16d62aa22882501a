import type { Posting } from '@coinrack/money/index.ts'

/*
 * A model of the ledger without a database: balances, holds, budgets and the statements of some customers, as plain
 * values. Amounts are micro-USD.
 */

export type ModelOperation =
  | { do: 'deposit'; customer: number; amount: bigint; cause: number }
  | { do: 'reverse'; customer: number; amount: bigint }
  | { do: 'hold'; customer: number; amount: bigint; purpose: number; token: number | null }
  | { do: 'capture' | 'release'; customer: number; purpose: number }
  | { do: 'charge'; customer: number; amount: bigint; cause: number; token: number | null }
  | { do: 'refund'; customer: number; amount: bigint }
  | { do: 'post'; customer: number; postings: Posting[] }
  | { do: 'wait'; hours: number }

/** Done, with its answer, or the reason of the refusal. All refusals but `insufficient` end the surrounding transaction. */
export type ModelOutcome =
  | { done: bigint | boolean | 'held' | 'waited' }
  | { refused: 'insufficient' | 'duplicate' }
  | { refused: 'budget'; token: number; cap: ModelCap }

export type ModelCap = 'max_per_charge' | 'per_day' | 'total'
/** The budgets of one customer's tokens, the highest first: each is a child of the previous one. Null is no cap. */
export type ModelBudgets = Record<ModelCap, bigint | null>[]

interface ModelHold {
  amount: bigint
  state: 'pending' | 'posted' | 'voided'
  token: number | null
  day: number
}

export interface ModelCustomer {
  available: bigint
  held: bigint
  /** At most zero. */
  owed: bigint
  statement: { available_change: bigint; held_change: bigint; available_after: bigint }[]
  holds: Map<number, ModelHold>
  /** For each token and each day, the amount that it and its descendants have spent or hold. */
  spent: Map<number, bigint>[]
}

export interface ModelState {
  hours: number
  customers: ModelCustomer[]
  references: Set<string>
  /** The sum of all entries of each account of the ledger. */
  sums: Map<string, bigint>
}

const HOURS = 24
const TREASURY = 'treasury.8453.USDC'

/** Customers without money, each with one token for each of its budgets. */
export const openModel = (budgets: ModelBudgets[]): ModelState => ({
  hours: 0,
  customers: budgets.map((tokens) => ({
    available: 0n,
    held: 0n,
    owed: 0n,
    statement: [],
    holds: new Map(),
    spent: tokens.map(() => new Map()),
  })),
  references: new Set(),
  sums: new Map(),
})

export const spentInAll = (days: Map<number, bigint>) =>
  [...days.values()].reduce((sum, day) => sum + day, 0n)
const least = (a: bigint, b: bigint) => (a < b ? a : b)
const dayOf = (state: ModelState) => Math.floor(state.hours / HOURS)

/** Applies one operation to the state, or leaves the state unchanged. */
export function runOnModel(
  state: ModelState,
  budgets: ModelBudgets[],
  operation: ModelOperation,
): ModelOutcome {
  if (operation.do === 'wait') {
    state.hours += operation.hours
    return { done: 'waited' }
  }
  const { customer: index } = operation
  const customer = state.customers[index]!
  switch (operation.do) {
    case 'deposit': {
      const paysDebt = least(operation.amount, -customer.owed)
      return move(state, customer, `deposit ${index} ${operation.cause}`, [
        { from: TREASURY, to: 'customer.owed', amount: paysDebt },
        { from: TREASURY, to: 'customer.available', amount: operation.amount - paysDebt },
      ])
    }
    case 'reverse': {
      const taken = least(operation.amount, customer.available)
      return move(state, customer, undefined, [
        { from: 'customer.available', to: TREASURY, amount: taken },
        { from: 'customer.owed', to: TREASURY, amount: operation.amount - taken },
      ])
    }
    case 'refund':
      return move(state, customer, undefined, [
        { from: 'revenue.vps', to: 'customer.available', amount: operation.amount },
      ])
    case 'post':
      return move(state, customer, undefined, operation.postings)
    case 'charge': {
      const { amount, token, cause } = operation
      const moved = move(state, customer, `charge ${index} ${cause}`, [
        { from: 'customer.available', to: 'revenue.vps', amount },
      ])
      return 'refused' in moved ? moved : (spend(state, customer, budgets[index]!, token, amount) ?? moved)
    }
    case 'hold': {
      const { amount, token, purpose } = operation
      const moved = move(state, customer, `hold ${index} ${purpose}`, [
        { from: 'customer.available', to: 'customer.held', amount },
      ])
      if ('refused' in moved) return moved
      const over = spend(state, customer, budgets[index]!, token, amount)
      if (over) return over
      customer.holds.set(purpose, { amount, token, state: 'pending', day: dayOf(state) })
      return { done: 'held' }
    }
    case 'capture':
    case 'release': {
      const hold = customer.holds.get(operation.purpose)
      if (hold?.state !== 'pending') return { done: false }
      const isCapture = operation.do === 'capture'
      hold.state = isCapture ? 'posted' : 'voided'
      const to = isCapture ? 'revenue.vps' : 'customer.available'
      move(state, customer, undefined, [{ from: 'customer.held', to, amount: hold.amount }])
      if (!isCapture) count(customer, hold.token, hold.day, -hold.amount)
      return { done: true }
    }
  }
}

/** Moves money unless a part of the customer's balance would cross zero or the reference is used already. */
function move(
  state: ModelState,
  customer: ModelCustomer,
  reference: string | undefined,
  postings: Posting[],
): ModelOutcome {
  const changes = new Map<string, bigint>()
  for (const { from, to, amount } of postings) {
    changes.set(from, (changes.get(from) ?? 0n) - amount)
    changes.set(to, (changes.get(to) ?? 0n) + amount)
  }
  const changeOf = (part: 'available' | 'held' | 'owed') => changes.get(`customer.${part}`) ?? 0n
  const available = customer.available + changeOf('available')
  const held = customer.held + changeOf('held')
  const owed = customer.owed + changeOf('owed')
  if (available < 0n || held < 0n || owed > 0n) return { refused: 'insufficient' }
  if (reference !== undefined && state.references.has(reference)) return { refused: 'duplicate' }
  if (reference !== undefined) state.references.add(reference)
  Object.assign(customer, { available, held, owed })
  customer.statement.push({
    available_change: changeOf('available'),
    held_change: changeOf('held'),
    available_after: available,
  })
  for (const [account, change] of changes) state.sums.set(account, (state.sums.get(account) ?? 0n) + change)
  return { done: available }
}

/** Counts an amount for a token and all its ancestors; if it exceeds a cap, returns the first one from the top down. */
function spend(
  state: ModelState,
  customer: ModelCustomer,
  budgets: ModelBudgets,
  token: number | null,
  amount: bigint,
): ModelOutcome | undefined {
  if (token === null) return undefined
  const day = dayOf(state)
  for (const [each, budget] of budgets.slice(0, token + 1).entries()) {
    const days = customer.spent[each]!
    const wanted: Record<ModelCap, bigint> = {
      max_per_charge: amount,
      per_day: (days.get(day) ?? 0n) + amount,
      total: spentInAll(days) + amount,
    }
    for (const cap of ['max_per_charge', 'per_day', 'total'] as const) {
      const limit = budget[cap]
      if (limit !== null && wanted[cap] > limit) return { refused: 'budget', token: each, cap }
    }
  }
  count(customer, token, day, amount)
  return undefined
}

function count(customer: ModelCustomer, token: number | null, day: number, amount: bigint): void {
  if (token === null) return
  for (const days of customer.spent.slice(0, token + 1)) days.set(day, (days.get(day) ?? 0n) + amount)
}
