import { announce } from '../../database/changes.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { removePort } from './port-store.ts'

export const unexposePort: Handler<'unexposePort'> = async ({ input, db }) => {
  const { sandbox_id, port } = input
  await removePort(db, sandbox_id, port)
  // Processes that carry connections check again whether they still may.
  await announce(db, sandbox_id)
  return { port }
}
