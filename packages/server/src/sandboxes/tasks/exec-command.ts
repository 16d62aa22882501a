import type { TaskRequest } from '@coinrack/compute/ports/sandbox-channel.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { outputLimit } from '../../platform/fit-output.ts'
import { askSandbox } from './ask-sandbox.ts'
import { fitEnded, keepIn, orNone } from './fit-answer.ts'
import { runTask } from './run-task.ts'

export const execCommand: Handler<'execCommand'> = async ({
  input,
  resource,
  services,
  asTool,
  ...taking
}) => {
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
    const taskId = services.newId('task')
    const { end: _end, outputs, ...done } = await runTask(channel, { id, taskId }, request, input, taking)
    const most = outputLimit(asTool, input.max_output)
    const { cut, ...shown } = await fitEnded(outputs, most, keepIn(channel, id, taskId))
    return { ...shown, ...done, ...orNone(cut) }
  })
}
