import type { Handler } from '../../dispatch/handler.ts'
import { sandboxById } from './sandbox-store.ts'
import { sandboxView } from './sandbox-view.ts'

export const getSandbox: Handler<'getSandbox'> = async ({ input, db, services, until }) => {
  const read = async () => sandboxView(await sandboxById(db, input.sandbox_id), services.clock)
  if (input.wait === undefined) return read()
  return until(
    input.sandbox_id,
    input.timeout,
    read,
    ({ state }) => state === input.wait || state === 'ended' || state === 'failed',
  )
}
