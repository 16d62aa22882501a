import type { Handler } from '../../dispatch/handler.ts'
import { portsOf } from './port-store.ts'
import { portView } from './previews.ts'

/** At most 20: one page has them all. */
export const listExposedPorts: Handler<'listExposedPorts'> = async ({ input, db, services }) => ({
  items: (await portsOf(db, input.sandbox_id)).map((row) => portView(services, row)),
})
