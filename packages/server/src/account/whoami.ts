import type { Handler } from '../handler.ts'
import { accountById, accountView } from './account-store.ts'

export const whoami: Handler<'whoami'> = async ({ caller, db }) =>
  accountView(await accountById(db, caller.accountId))
