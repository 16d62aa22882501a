import type { SandboxChannel } from '@coinrack/compute/ports/sandbox-channel.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { outputLimit } from '../../platform/fit-output.ts'
import { askSandbox } from './ask-sandbox.ts'
import { besideResults, fitEnded, fitResults, keepIn, orNone } from './fit-answer.ts'
import { runTask } from './run-task.ts'

export const runCode: Handler<'runCode'> = async ({ input, resource, services, asTool, ...taking }) => {
  const { sandbox_id: id, language, code, context, env } = input
  return askSandbox(services, id, resource, async (channel) => {
    if (context !== undefined) await makeContext(channel, id, context, language)
    const run = { code, language, ...(context !== undefined && { context }) }
    const taskId = services.newId('task')
    const task = { run, ...(env && { env }) }
    const { end, outputs, ...done } = await runTask(channel, { id, taskId }, task, input, {
      ...taking,
      tellResults: true,
    })
    const most = outputLimit(asTool, input.max_output)
    const keep = keepIn(channel, id, taskId)
    const { cut, ...shown } = await fitEnded(outputs, besideResults(end, most), keep)
    const { cut: cutResults, ...result } = await fitResults(end, most, keep)
    return { ...shown, ...done, ...result, ...orNone([...cut, ...cutResults]) }
  })
}

type Language = Parameters<SandboxChannel['contexts']['create']>[2]['language']

/** Contexts with a language's own name always exist. */
async function makeContext({ contexts }: SandboxChannel, id: string, context: string, language: Language) {
  if (context !== language) await contexts.create(id, context, { language })
}
