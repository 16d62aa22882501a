import type { Handler } from '../dispatch/handler.ts'
import { balanceView } from '../ledger/balance-view.ts'

export const getBalance: Handler<'getBalance'> = async ({ caller, db, services }) =>
  balanceView(db, services, caller.accountId)
