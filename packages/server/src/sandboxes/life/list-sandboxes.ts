import type { Handler } from '../../dispatch/handler.ts'
import { pageOf } from '../../dispatch/paging.ts'
import { sandboxesOf } from './sandbox-store.ts'
import { sandboxView } from './sandbox-view.ts'

export const listSandboxes: Handler<'listSandboxes'> = async ({ input, caller, db, services }) =>
  pageOf(
    await sandboxesOf(db, caller.accountId, { ...input, metadata: pairsOf(input.metadata) }),
    input.limit,
    (row) => sandboxView(row, services.clock),
  )

const pairsOf = (query = '') => Object.fromEntries(new URLSearchParams(query))
