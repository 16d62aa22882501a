import type { Handler } from '../../dispatch/handler.ts'
import { askSandbox } from '../tasks/ask-sandbox.ts'

export const moveFile: Handler<'moveFile'> = async ({ input, resource, services }) => {
  const { sandbox_id: id, path, to } = input
  await askSandbox(services, id, resource, ({ files }) => files.move(id, path, to))
  return { path: to }
}
