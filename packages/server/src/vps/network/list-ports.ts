import type { Handler } from '../../dispatch/handler.ts'
import { networkOf } from './network-store.ts'
import { portView } from './network-view.ts'

export const listPorts: Handler<'listPorts'> = async ({ input, db, resource }) => {
  const { ports } = await networkOf(db, input.service_id)
  return { items: ports.map((port) => portView(port, resource.ssh_host)) }
}
