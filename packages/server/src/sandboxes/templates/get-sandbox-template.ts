import type { Handler } from '../../dispatch/handler.ts'
import { templateById } from './template-store.ts'
import { templateView } from './template-view.ts'

export const getSandboxTemplate: Handler<'getSandboxTemplate'> = async ({ input, db, until }) => {
  const { template_id: id } = input
  const read = async () => templateView(db, await templateById(db, id))
  if (input.wait === undefined) return read()
  return until(id, input.timeout, read, ({ status }) => status !== 'building')
}
