import type { Handler } from '../../dispatch/handler.ts'
import { pageOf } from '../../dispatch/paging.ts'
import { workOf } from './snapshot-state.ts'
import { snapshotsOf } from './snapshot-store.ts'
import { snapshotView } from './snapshot-view.ts'

export const listSnapshots: Handler<'listSnapshots'> = async ({ input, db, until }) => {
  const read = () => snapshotsOf(db, input.service_id, input)
  const rows = input.wait
    ? await until(input.service_id, input.timeout, read, (seen) =>
        seen.every(({ status }) => !workOf[status]),
      )
    : await read()
  return pageOf(rows, input.limit, snapshotView)
}
