import type { Handler } from '../../dispatch/handler.ts'
import { pageOf } from '../../dispatch/paging.ts'
import { askSandbox } from './ask-sandbox.ts'

export const listContexts: Handler<'listContexts'> = async ({ input, resource, services }) => {
  const { sandbox_id: id, cursor, limit } = input
  const found = await askSandbox(services, id, resource, ({ contexts }) => contexts.list(id))
  const rest = found
    .filter(({ contextId }) => cursor === undefined || contextId > cursor)
    .sort((a, b) => (a.contextId < b.contextId ? -1 : 1))
    .slice(0, limit + 1)
  return pageOf(rest, limit, ({ contextId, language, cwd }) => ({ id: contextId, language, cwd }))
}
