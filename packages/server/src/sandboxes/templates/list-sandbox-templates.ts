import type { Handler } from '../../dispatch/handler.ts'
import { templatesOf } from './template-store.ts'
import { templateViews } from './template-view.ts'

export const listSandboxTemplates: Handler<'listSandboxTemplates'> = async ({ input, caller, db }) => {
  const rows = await templatesOf(db, caller.accountId, input)
  const items = await templateViews(db, rows.slice(0, input.limit))
  return rows.length > input.limit ? { items, nextCursor: items.at(-1)!.id } : { items }
}
