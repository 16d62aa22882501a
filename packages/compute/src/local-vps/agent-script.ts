import { randomInt } from 'node:crypto'
import { type AgentOptions, askAgent, runInGuest } from './guest-agent.ts'

/*
 * Scripts of ours in a machine that only the service talks to yet: a template, or a clone before it is delivered.
 */

const ENVIRONMENT = [
  'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  'LANG=C.UTF-8',
  'HOME=/root',
]
const MARKS = 2 ** 32
const TAIL_CHARACTERS = 500

export interface ScriptOptions {
  args?: string[]
  input?: Buffer
  /** For the agent to answer, and again for the script to end. */
  timeoutMs: number
  /** How late its end may be noticed. */
  longestPollMs?: number
}

/** Whether an agent answers at the socket within `timeoutMs`. */
export const isAgentUp = (path: string, timeoutMs: number): Promise<boolean> =>
  askAgent(agentAt(path, timeoutMs), 'guest-ping').then(
    () => true,
    () => false,
  )

/** Runs a shell script inside as root, by the agent at the socket. Throws unless it ends with 0 in time. */
export async function runScript(path: string, script: string, options: ScriptOptions): Promise<void> {
  const { args = [], input, timeoutMs, longestPollMs } = options
  const output = await runInGuest(agentAt(path, timeoutMs), askAgent, {
    program: '/bin/sh',
    args: ['-c', script, 'sh', ...args],
    env: ENVIRONMENT,
    limitMs: timeoutMs,
    ...(input && { input }),
    ...(longestPollMs !== undefined && { longestPollMs }),
  })
  if (!output) throw new Error(`A script inside did not end within ${timeoutMs / 1000} s`)
  if (output.exitCode === 0) return
  const said = output.stderr.toString('utf8').slice(-TAIL_CHARACTERS)
  throw new Error(`A script inside ended with ${output.exitCode ?? 'a signal'}\n${said}`)
}

const agentAt = (path: string, syncMs: number): AgentOptions => ({
  path,
  syncMs,
  newMark: () => randomInt(MARKS),
})
