import type { Handler } from '../../dispatch/handler.ts'
import { pageOf } from '../../dispatch/paging.ts'
import { snapshotsOf } from './snapshot-store.ts'
import { snapshotView } from './snapshot-view.ts'

export const listSandboxSnapshots: Handler<'listSandboxSnapshots'> = async ({ input, caller, db }) =>
  pageOf(await snapshotsOf(db, caller.accountId, input), input.limit, snapshotView)
