import type { TaskRequest } from '@coinrack/compute/ports/sandbox-channel.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { askSandbox } from './ask-sandbox.ts'
import { runTask } from './run-task.ts'

export const execCommand: Handler<'execCommand'> = async ({ input, resource, services, ...taking }) => {
  const { sandbox_id: id, command, cwd, env, user, terminal, background } = input
  const request: TaskRequest = {
    run: { command },
    ...(cwd !== undefined && { cwd }),
    ...(env && { env }),
    ...(user !== undefined && { user }),
    ...(background && { stdin: true }),
    ...(background && terminal && { terminal }),
  }
  return askSandbox(services, id, resource, async (channel) => {
    const { end: _end, ...done } = await runTask(services, channel, id, request, input, taking)
    return done
  })
}
