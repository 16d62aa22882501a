import type { Handler } from '../../dispatch/handler.ts'
import { pageOf } from '../../dispatch/paging.ts'
import { askSandbox } from './ask-sandbox.ts'

export const listTasks: Handler<'listTasks'> = async ({ input, resource, services }) => {
  const { sandbox_id: id, cursor, limit } = input
  const tasks = await askSandbox(services, id, resource, (channel) => channel.tasks.list(id))
  // Identifiers sort by age.
  const rest = tasks
    .filter(({ taskId }) => cursor === undefined || taskId < cursor)
    .sort((a, b) => (a.taskId < b.taskId ? 1 : -1))
    .slice(0, limit + 1)
  return pageOf(rest, limit, ({ taskId, title, isRunning, startedAt }) => ({
    id: taskId,
    title,
    running: isRunning,
    started_at: startedAt,
  }))
}
