import type { GuestLink } from './agent-session.ts'
import type { SandboxTemplate } from './image/recipes.ts'

/**
 * Lets a machine do once what its owner is likely to do first: what was read is in memory then, and under emulation what
 * was translated stays translated, so the second time takes a fraction.
 */
export async function prime(
  link: GuestLink,
  { warm, first }: Pick<SandboxTemplate, 'warm' | 'first'>,
): Promise<void> {
  await run(link, { command: 'echo' }, '')
  await run(link, { command: "python3 -c 'print(1)'" }, '')
  await run(link, { command: "node -e 'console.log(1)'" }, '')
  await run(link, { language: 'python' }, first ?? 'print(1)')
  await run(link, { language: 'node' }, 'console.log(1)')
  // Those that stood by are used up.
  await link.call('warm', { languages: warm }, { timeoutMs: 30_000 })
}

async function run(link: GuestLink, how: object, code: string): Promise<void> {
  const taskId = 'prime'
  const read = { from: { stdout: 0, stderr: 0 }, waitMs: 10_000, untilEnd: true }
  const body = Buffer.from(code)
  let { head } = await link.call('tasks.start', { taskId, request: { run: how }, read }, { body })
  while (!head.end) ({ head } = await link.call('tasks.read', { taskId, ...read }))
  await link.call('tasks.remove', { taskId })
}
