import type { Handler } from '../../dispatch/handler.ts'
import { askSandbox } from './ask-sandbox.ts'

export const killTask: Handler<'killTask'> = async ({ input, resource, services }) => {
  const { sandbox_id: id, task_id, signal } = input
  await askSandbox(services, id, resource, (channel) => channel.tasks.signal(id, task_id, signal))
  return { task_id, signal }
}
