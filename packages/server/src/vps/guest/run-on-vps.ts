import type { GuestChannel } from '@coinrack/compute/ports/guest-channel.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { fitOutputs, outputLimit } from '../../platform/fit-output.ts'
import { hostOf } from '../../platform/machine-host.ts'
import { textOf } from '../../platform/text-bytes.ts'
import { askGuest } from './ask-guest.ts'

/** Nothing answers later than 50 s: the last ones are for ending the command and fetching what it wrote. */
const LONGEST_MS = 46_000
/** Where output is kept that an answer has no room for: only root reads it, and after a day it goes when more comes. */
const FOLDER = '.coinrack'
const HOME = '/root'
const MAKE_ROOM = `mkdir -p -m 700 ${FOLDER} && find ${FOLDER} -type f -mmin +1440 -delete`
const MAKE_ROOM_MS = 2_000

export const runOnVps: Handler<'runOnVps'> = async ({ input, resource, services, fail, asTool }) => {
  const { command, cwd, env, timeout, service_id: id } = input
  const timeoutMs = Math.min(timeout * 1000, LONGEST_MS)
  const { guests } = hostOf(services, resource)
  const result = await askGuest(resource, fail, () =>
    guests.exec(id, {
      command,
      timeoutMs,
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { env }),
      ...(input.input === undefined ? {} : { input: input.input }),
    }),
  )
  const outputs = { stdout: Buffer.from(result.stdout), stderr: Buffer.from(result.stderr) }
  const most = outputLimit(asTool, input.max_output)
  const shown = most === undefined ? undefined : fitOutputs(outputs, most)
  const cut = []
  for (const part of ['stdout', 'stderr'] as const) {
    const content = outputs[part]
    if (!shown || shown[part] === content.length) continue
    const path = await keep(guests, id, `${services.newId('task')}.${part}`, content)
    cut.push({ part, bytes: content.length, shown: shown[part], path })
  }
  return {
    stdout: textOf(outputs.stdout.subarray(0, shown?.stdout)),
    stderr: textOf(outputs.stderr.subarray(0, shown?.stderr)),
    exit_code: result.exitCode ?? null,
    timed_out: result.timedOut,
    truncated: result.truncated,
    duration_ms: result.durationMs,
    ...(cut.length > 0 && { cut }),
  }
}

/** Keeps a whole output as a file of the machine. @returns its path; null where it could not be written */
async function keep(guests: GuestChannel, id: string, name: string, content: Uint8Array) {
  const path = `${HOME}/${FOLDER}/${name}`
  try {
    await guests.exec(id, { command: MAKE_ROOM, cwd: HOME, timeoutMs: MAKE_ROOM_MS })
    await guests.writeFile(id, path, content)
    return path
  } catch {
    return null
  }
}
