import type { Handler } from '../../dispatch/handler.ts'
import { askSandbox } from './ask-sandbox.ts'

export const restartContext: Handler<'restartContext'> = async ({ input, resource, services }) => {
  const { sandbox_id: id, context } = input
  await askSandbox(services, id, resource, ({ contexts }) => contexts.restart(id, context))
  return { context }
}
