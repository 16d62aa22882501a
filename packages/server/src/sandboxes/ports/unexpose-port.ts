import { announce } from '../../database/changes.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { removePort } from './port-store.ts'

export const unexposePort: Handler<'unexposePort'> = async ({ input, db }) => {
  const { sandbox_id, port } = input
  await removePort(db, sandbox_id, port)
  // Whoever carries connections looks again whether it may.
  await announce(db, sandbox_id)
  return { port }
}
