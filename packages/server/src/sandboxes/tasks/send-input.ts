import type { Handler } from '../../dispatch/handler.ts'
import { askSandbox } from './ask-sandbox.ts'

export const sendInput: Handler<'sendInput'> = async ({ input: asked, resource, services }) => {
  const { sandbox_id: id, task_id, input, end, terminal } = asked
  await askSandbox(services, id, resource, async ({ tasks }) => {
    if (terminal) await tasks.resize(id, task_id, terminal)
    if (input !== '' || end) await tasks.write(id, task_id, Buffer.from(input), { end })
  })
  return { task_id }
}
