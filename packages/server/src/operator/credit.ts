import { formatUsd, parseUsd } from '@coinrack/contract/wire.ts'
import type { Posting } from '@coinrack/money/index.ts'
import { announce } from '../database/changes.ts'
import { inTransaction } from '../database/transaction.ts'
import { lockBalance } from '../ledger/balance.ts'
import { post } from '../ledger/post.ts'
import { type Command, RefusedError } from './command.ts'
import { findAccount } from './find-account.ts'

const LONGEST_REASON = 200

export const credit: Command = {
  name: 'credit',
  arguments: '<email|id> <amount> --reason <text>',
  summary: 'Adds US dollars to a balance, or takes them when negative; the customer reads the reason',
  takes: 2,
  options: { reason: { type: 'string' } },
  async run(operator, [who, written], { reason }) {
    const amount = readAmount(written!)
    if (!reason || reason.length > LONGEST_REASON) {
      throw new RefusedError(`Say why with --reason, in at most ${LONGEST_REASON} characters`)
    }
    const db = await operator.db()
    const account = await findAccount(db, who!)
    const id = operator.newId('transaction')
    const balance = await inTransaction(db, async (tx) => {
      const { available, owed } = await lockBalance(tx, account.id)
      if (available + amount < 0n) {
        throw new RefusedError(
          `${account.email ?? account.id} has ${formatUsd(available)} USD: no balance goes below zero`,
        )
      }
      const after = await post(tx, {
        id,
        kind: 'adjustment',
        accountId: account.id,
        description: reason,
        postings: adjustment(amount, owed),
        at: operator.clock.now(),
      })
      await announce(tx, account.id)
      return after
    })
    return {
      json: { id, account_id: account.id, amount: formatUsd(amount), balance: formatUsd(balance) },
      text: `${account.email ?? account.id}: ${formatUsd(amount)} USD, balance now ${formatUsd(balance)} USD (${id})`,
    }
  },
}

/** Micro-dollars of a decimal, which may be negative. */
function readAmount(text: string): bigint {
  const size = parseUsd(text.replace(/^[+-]/, ''))
  if (!size) throw new RefusedError(`${text} is not an amount of US dollars, such as 12.50 or -3`)
  return text.startsWith('-') ? -size : size
}

/** A credit first pays what the customer owes, as money that arrives does. */
function adjustment(amount: bigint, owed: bigint): Posting[] {
  if (amount < 0n) return [{ from: 'customer.available', to: 'house.adjustments', amount: -amount }]
  const paysDebt = amount < owed ? amount : owed
  const postings: Posting[] = [
    { from: 'house.adjustments', to: 'customer.owed', amount: paysDebt },
    { from: 'house.adjustments', to: 'customer.available', amount: amount - paysDebt },
  ]
  return postings.filter((posting) => posting.amount > 0n)
}
