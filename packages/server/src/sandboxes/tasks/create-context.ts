import type { Handler } from '../../dispatch/handler.ts'
import { askSandbox } from './ask-sandbox.ts'

export const createContext: Handler<'createContext'> = async ({ input, resource, services, fail }) => {
  const { sandbox_id: id, context, language, cwd } = input
  return askSandbox(services, id, resource, async ({ contexts }) => {
    await contexts.create(id, context, { language, ...(cwd !== undefined && { cwd }) })
    const made = (await contexts.list(id)).find(({ contextId }) => contextId === context)
    if (!made || made.language !== language)
      throw fail('task_refused', `There is a context ${context} of another language`)
    return { context, language, cwd: made.cwd }
  })
}
