import type { AgentSession } from './agent-session.ts'
import type { SandboxTemplate } from './image/recipes.ts'

/**
 * Lets a machine do once what its owner is likely to do first: what was read is in memory then, and under emulation what
 * was translated stays translated, so the second time takes a fraction.
 */
export async function prime(
  session: AgentSession,
  { warm, first }: Pick<SandboxTemplate, 'warm' | 'first'>,
): Promise<void> {
  await run(session, { command: 'echo' }, '')
  await run(session, { command: "python3 -c 'print(1)'" }, '')
  await run(session, { command: "node -e 'console.log(1)'" }, '')
  await run(session, { language: 'python' }, first ?? 'print(1)')
  await run(session, { language: 'node' }, 'console.log(1)')
  // Interpreters that stood by are used up.
  await session.call('warm', { languages: warm }, { timeoutMs: 30_000 })
}

async function run(session: AgentSession, how: object, code: string): Promise<void> {
  const taskId = 'prime'
  const read = { from: { stdout: 0, stderr: 0 }, waitMs: 10_000, untilEnd: true }
  const body = Buffer.from(code)
  let { head } = await session.call('tasks.start', { taskId, request: { run: how }, read }, { body })
  while (!head.end) ({ head } = await session.call('tasks.read', { taskId, ...read }))
  await session.call('tasks.remove', { taskId })
}
