import type { Handler } from '../dispatch/handler.ts'
import { accountById, accountView, setNames } from './account-store.ts'

export const updateAccount: Handler<'updateAccount'> = async ({ input, caller, db }) => {
  await setNames(db, caller.accountId, { first_name: input.first_name, last_name: input.last_name })
  return { account: accountView(await accountById(db, caller.accountId)) }
}
