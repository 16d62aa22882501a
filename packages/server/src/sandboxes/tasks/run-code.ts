import type { SandboxChannel } from '@coinrack/compute/ports/sandbox-channel.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { askSandbox } from './ask-sandbox.ts'
import { runTask } from './run-task.ts'
import { shownEnd } from './task-output.ts'

export const runCode: Handler<'runCode'> = async ({ input, resource, services, ...taking }) => {
  const { sandbox_id: id, language, code, context, env } = input
  return askSandbox(services, id, resource, async (channel) => {
    if (context !== undefined) await makeContext(channel, id, context, language)
    const run = { code, language, ...(context !== undefined && { context }) }
    const { end, ...done } = await runTask(services, channel, id, { run, ...(env && { env }) }, input, taking)
    return { ...done, ...shownEnd(end) }
  })
}

type Language = Parameters<SandboxChannel['contexts']['create']>[2]['language']

/** Contexts with a language's own name always exist. */
async function makeContext({ contexts }: SandboxChannel, id: string, context: string, language: Language) {
  if (context !== language) await contexts.create(id, context, { language })
}
