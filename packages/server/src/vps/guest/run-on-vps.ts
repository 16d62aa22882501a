import type { Handler } from '../../dispatch/handler.ts'
import { hostOf } from '../../platform/machine-host.ts'
import { askGuest } from './ask-guest.ts'

/** Nothing answers later than 50 s: the last ones are for ending the command and fetching what it wrote. */
const LONGEST_MS = 46_000

export const runOnVps: Handler<'runOnVps'> = async ({ input, resource, services, fail }) => {
  const { command, cwd, env, timeout } = input
  const timeoutMs = Math.min(timeout * 1000, LONGEST_MS)
  const result = await askGuest(resource, fail, () =>
    hostOf(services, resource).guests.exec(input.service_id, {
      command,
      timeoutMs,
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { env }),
      ...(input.input === undefined ? {} : { input: input.input }),
    }),
  )
  return {
    stdout: result.stdout,
    stderr: result.stderr,
    exit_code: result.exitCode ?? null,
    timed_out: result.timedOut,
    truncated: result.truncated,
    duration_ms: result.durationMs,
  }
}
