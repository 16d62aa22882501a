import type { Handler } from '../../dispatch/handler.ts'
import { askSandbox } from '../tasks/ask-sandbox.ts'

export const listFiles: Handler<'listFiles'> = async ({ input, resource, services }) => {
  const { sandbox_id: id, path, depth, cursor, limit } = input
  const found = await askSandbox(services, id, resource, ({ files }) => files.list(id, path, { depth }))
  // Sorted by path, so the cursor is the last one shown.
  const rest = found.filter((file) => cursor === undefined || file.path > cursor)
  const items = rest.slice(0, limit).map(({ modifiedAt, mode, target, ...file }) => ({
    ...file,
    mode: `0${mode.toString(8)}`,
    modified_at: modifiedAt,
    target: target ?? null,
  }))
  return rest.length > limit ? { items, nextCursor: items.at(-1)!.path } : { items }
}
