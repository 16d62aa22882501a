import type { Handler } from '../../dispatch/handler.ts'
import { workById, workView } from './work-store.ts'

export const getOperation: Handler<'getOperation'> = async ({ input, db, until }) => {
  const id = input.operation_id
  if (!input.wait) return workView(await workById(db, id))
  const ended = await until(
    id,
    input.timeout,
    () => workById(db, id),
    ({ status }) => status !== 'running',
  )
  return workView(ended)
}
