import type { Handler } from '../../dispatch/handler.ts'
import { askSandbox } from '../tasks/ask-sandbox.ts'

export const deleteFile: Handler<'deleteFile'> = async ({ input, resource, services }) => {
  const { sandbox_id: id, path } = input
  await askSandbox(services, id, resource, ({ files }) => files.remove(id, path))
  return { deleted: path }
}
