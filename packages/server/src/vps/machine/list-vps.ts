import type { Handler } from '../../dispatch/handler.ts'
import { pageOf } from '../../dispatch/paging.ts'
import { vpsOf } from './vps-store.ts'
import { vpsView } from './vps-view.ts'

export const listVps: Handler<'listVps'> = async ({ input, caller, db }) =>
  pageOf(await vpsOf(db, caller.accountId, input), input.limit, vpsView)
