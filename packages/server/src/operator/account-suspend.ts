import type { Command } from './command.ts'
import { findAccount } from './find-account.ts'

/** Suspends an account, or ends that. An account that already is as wanted is left alone. */
const suspending =
  (suspend: boolean): Command['run'] =>
  async (operator, [who]) => {
    const db = await operator.db()
    const account = await findAccount(db, who!)
    const at = suspend ? (account.suspended_at ?? operator.clock.now()) : null
    await db.query('update account set suspended_at = $2 where id = $1', [account.id, at])
    return {
      json: { id: account.id, email: account.email, suspended_at: at?.toISOString() ?? null },
      text: `${account.email} is ${suspend ? 'suspended: its tokens are refused' : 'no longer suspended'}`,
    }
  }

export const accountSuspend: Command = {
  name: 'account suspend',
  arguments: '<email|id>',
  summary: 'Refuses every call of an account; its VPS go on until their time ends',
  takes: 1,
  run: suspending(true),
}

export const accountUnsuspend: Command = {
  name: 'account unsuspend',
  arguments: '<email|id>',
  summary: 'Lets a suspended account work again',
  takes: 1,
  run: suspending(false),
}
