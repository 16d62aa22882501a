import { capture, type HouseAccount, payOut, release, reserve } from '@coinrack/money/index.ts'
import type { Transaction } from '../database/transaction.ts'
import { returnToBudget, spendBudget, type TokenCharge } from './budget.ts'
import { post } from './post.ts'

/** How a hold ends: the caller supplies the ids, the description and the time. */
interface Ending {
  holdId: string
  transactionId: string
  description: string
  at: Date
}

/**
 * Reserves an amount of the spendable balance until `captureHold` or `releaseHold`.
 * @throws InsufficientFunds
 * @throws OperationError `budget_exceeded`, `approval_needed`
 */
export async function placeHold(
  tx: Transaction,
  hold: {
    id: string
    transactionId: string
    accountId: string
    /** micro-USD */
    amount: bigint
    /** Unique, so that each purpose is paid by one hold. */
    purpose: string
    description: string
    at: Date
    /** The token whose budget it counts for. */
    spender?: Pick<TokenCharge, 'tokenId' | 'machine' | 'asking' | 'invoiceId'> | undefined
  },
): Promise<void> {
  await post(tx, {
    id: hold.transactionId,
    kind: 'hold',
    accountId: hold.accountId,
    reference: `hold:${hold.purpose}`,
    description: hold.description,
    postings: reserve(hold.amount),
    at: hold.at,
  })
  // The posting has locked the customer's balance.
  const spent = hold.spender && (await spendBudget(tx, { ...hold, ...hold.spender }))
  await tx.query(
    `insert into hold (id, account_id, amount, purpose, created_at, counted_for, approval_id)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      hold.id,
      hold.accountId,
      hold.amount,
      hold.purpose,
      hold.at,
      spent?.counted ?? [],
      spent?.approvalId ?? null,
    ],
  )
}

interface HoldRow {
  account_id: string
  amount: bigint
  purpose: string
  created_at: Date
  counted_for: string[]
  approval_id: string | null
}

async function endHold(tx: Transaction, state: 'posted' | 'voided', ending: Ending, reason: string | null) {
  const { rows } = await tx.query<HoldRow>(
    `update hold set state = $2, reason = $3, ended_at = $4
     where id = $1 and state = 'pending' returning account_id, amount, purpose, created_at, counted_for,
       approval_id`,
    [ending.holdId, state, reason, ending.at],
  )
  return rows[0]
}

/**
 * Charges the amount that a hold reserved.
 * @returns false when the hold had ended already, so that nothing is charged twice
 */
export async function captureHold(tx: Transaction, ending: Ending): Promise<boolean> {
  const hold = await endHold(tx, 'posted', ending, null)
  if (!hold) return false
  await post(tx, {
    id: ending.transactionId,
    kind: 'charge',
    accountId: hold.account_id,
    reference: `capture:${hold.purpose}`,
    description: ending.description,
    postings: capture(hold.amount),
    at: ending.at,
  })
  return true
}

/**
 * Pays out the amount that a hold reserved, from the treasury of a token.
 * @returns false when the hold had ended already, so that nothing is paid out twice
 */
export async function payOutHold(tx: Transaction, ending: Ending & { from: HouseAccount }): Promise<boolean> {
  const hold = await endHold(tx, 'posted', ending, null)
  if (!hold) return false
  await post(tx, {
    id: ending.transactionId,
    kind: 'payout',
    accountId: hold.account_id,
    reference: `payout:${hold.purpose}`,
    description: ending.description,
    postings: payOut(hold.amount, ending.from),
    at: ending.at,
  })
  return true
}

/**
 * Returns the amount that a hold reserved.
 * @returns false when the hold had ended already
 */
export async function releaseHold(tx: Transaction, ending: Ending & { reason: string }): Promise<boolean> {
  const hold = await endHold(tx, 'voided', ending, ending.reason)
  if (!hold) return false
  await post(tx, {
    id: ending.transactionId,
    kind: 'hold_release',
    accountId: hold.account_id,
    reference: `release:${hold.purpose}`,
    description: ending.description,
    postings: release(hold.amount),
    at: ending.at,
  })
  const { amount, counted_for: counted, created_at: countedAt } = hold
  const unapproved = hold.approval_id === null ? amount : 0n
  await returnToBudget(tx, counted, { amount, unapproved }, countedAt)
  return true
}
