import type { Handler } from '../handler.ts'
import { pageOf } from '../paging.ts'
import { workOf } from './snapshot/snapshot-state.ts'
import { snapshotsOf } from './snapshot/snapshot-store.ts'
import { snapshotView } from './snapshot/snapshot-view.ts'

export const listSnapshots: Handler<'listSnapshots'> = async ({ input, db, until }) => {
  const read = () => snapshotsOf(db, input.service_id, input)
  const rows = input.wait
    ? await until(input.service_id, input.timeout, read, (seen) =>
        seen.every(({ status }) => !workOf[status]),
      )
    : await read()
  return pageOf(rows, input.limit, snapshotView)
}
