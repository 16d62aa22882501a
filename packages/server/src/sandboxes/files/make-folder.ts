import type { Handler } from '../../dispatch/handler.ts'
import { askSandbox } from '../tasks/ask-sandbox.ts'

export const makeFolder: Handler<'makeFolder'> = async ({ input, resource, services }) => {
  const { sandbox_id: id, path } = input
  const created = await askSandbox(services, id, resource, ({ files }) => files.makeFolder(id, path))
  return { path, created }
}
