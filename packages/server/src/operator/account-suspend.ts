import { setSuspended } from '../account/account-store.ts'
import { announce } from '../database/changes.ts'
import { inTransaction } from '../database/transaction.ts'
import type { Command } from './command.ts'
import { findAccount } from './find-account.ts'

/** Suspends an account, or ends that. An account that already is as wanted is left alone. */
const suspending =
  (suspend: boolean): Command['run'] =>
  async (operator, [who]) => {
    const db = await operator.db()
    const account = await findAccount(db, who!)
    const at = suspend ? (account.suspended_at ?? operator.clock.now()) : null
    await inTransaction(db, async (tx) => {
      await setSuspended(tx, account.id, at)
      // The services look at once at the connections to previews that they carry.
      const { rows } = await tx.query<{ id: string }>(
        `select distinct sandbox_id as id from sandbox_port join sandbox on sandbox.id = sandbox_id where account_id = $1`,
        [account.id],
      )
      for (const { id } of rows) await announce(tx, id)
    })
    return {
      json: { id: account.id, email: account.email, suspended_at: at?.toISOString() ?? null },
      text: `${account.email ?? account.id} is ${suspend ? 'suspended: its tokens, previews and file links are refused' : 'no longer suspended'}`,
    }
  }

export const accountSuspend: Command = {
  name: 'account suspend',
  arguments: '<email|id>',
  summary:
    'Refuses every call of an account, and closes its previews and file links; its VPS go on until their time ends',
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
