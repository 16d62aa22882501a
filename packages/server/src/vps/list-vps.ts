import type { Handler } from '../handler.ts'
import { pageOf } from '../paging.ts'
import { vpsOf } from './vps-store.ts'
import { vpsView } from './vps-view.ts'

export const listVps: Handler<'listVps'> = async ({ input, caller, db }) =>
  pageOf(await vpsOf(db, caller.accountId, input), input.limit, vpsView)
