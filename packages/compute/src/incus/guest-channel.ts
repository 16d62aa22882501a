import type { WebSocket } from 'ws'
import { type GuestChannel, GuestError } from '../ports/guest-channel.ts'
import {
  createScriptedChannel,
  type GuestProgram,
  type GuestRunner,
  type ProgramOutput,
} from '../scripted-guest/scripted-channel.ts'
import { type IncusClient, IncusError, IncusUnreachableError, isNotFound } from './client.ts'
import { instanceName, isMachineId } from './instance.ts'

/*
 * Programs inside machines of a cluster, by its agent in them. Each output comes over a websocket of its own, whose end is
 * a message of text (https://linuxcontainers.org/incus/docs/main/rest-api/#instances). The agent is the customer's, so no
 * more than a limit is kept of what it says.
 */

/** More than the scripts of the channel let through. */
const OUTPUT_BYTES_AT_MOST = 4 * 1024 * 1024
const ALIVE_MS = 5_000
/** Refusals of a machine that is off, and of one whose agent does not answer. */
const IS_AWAY = /not running|isn't currently running|agent|is not connected/i

/** @param client whose cluster reaches the agents, see `InstanceOptions.guestAgent` */
export function createIncusGuestChannel(client: IncusClient, random: GuestRunner['random']): GuestChannel {
  const run = async (id: string, program: GuestProgram): Promise<ProgramOutput | undefined> => {
    if (!isMachineId(id)) throw new GuestError('guest_away', `There is no machine ${id}`)
    try {
      return await runProgram(client, id, program)
    } catch (error) {
      throw asGuestError(error)
    }
  }
  return {
    ...createScriptedChannel({ run, random }),

    usage: async () => {
      throw new GuestError('unsupported', 'The cluster itself says what its machines use')
    },

    alive: (id) =>
      run(id, { program: '/bin/true', args: [], env: {}, limitMs: ALIVE_MS }).then(
        (output) => output?.exitCode === 0,
        () => false,
      ),
  }
}

async function runProgram(
  client: IncusClient,
  id: string,
  { program, args, env, input, limitMs }: GuestProgram,
): Promise<ProgramOutput | undefined> {
  const out = collector()
  const err = collector()
  const body = {
    command: [program, ...args],
    environment: env,
    'wait-for-websocket': true,
    interactive: false,
  }
  const all: WebSocket[] = []
  let timer: NodeJS.Timeout | undefined
  try {
    const path = `/1.0/instances/${instanceName(id)}/exec`
    const { sockets, finished } = await client.open(path, { body }, (name, socket) => {
      all.push(socket)
      socket.on('error', () => {})
      if (name === '1') out.take(socket)
      if (name === '2') err.take(socket)
    })
    const timeout = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => {
        sockets.control?.send(JSON.stringify({ command: 'signal', signal: 9 }))
        resolve(undefined)
      }, limitMs)
    })
    if (input) sockets['0']?.send(input)
    sockets['0']?.send('')
    const ended = Promise.all([finished(limitMs), out.ended, err.ended])
    // After the timeout nobody listens to it any more.
    ended.catch(() => {})
    const result = await Promise.race([ended, timeout])
    if (!result) return undefined
    const [{ status_code, err: reason, metadata }, stdout, stderr] = result
    if (status_code !== 200) throw new IncusError(status_code, reason)
    const code = metadata?.return
    return { stdout, stderr, exitCode: typeof code === 'number' && code >= 0 ? code : undefined }
  } finally {
    clearTimeout(timer)
    for (const socket of all) socket.close()
  }
}

/** Keeps what comes over a websocket until its end, or fails when it is more than any program of ours says. */
function collector() {
  const { promise: ended, resolve, reject } = Promise.withResolvers<Buffer>()
  const pieces: Buffer[] = []
  let size = 0
  // A websocket that breaks before anybody waits for its end is no end of the process.
  ended.catch(() => {})
  const take = (socket: WebSocket) => {
    socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) return resolve(Buffer.concat(pieces))
      size += data.length
      if (size > OUTPUT_BYTES_AT_MOST) {
        socket.terminate()
        return reject(new GuestError('guest_failed', 'A program inside said more than it may'))
      }
      pieces.push(data)
    })
    socket.on('close', () => resolve(Buffer.concat(pieces)))
  }
  return { take, ended }
}

function asGuestError(error: unknown): unknown {
  if (isNotFound(error)) return new GuestError('guest_away', 'There is no such machine', { cause: error })
  if (error instanceof IncusError)
    return new GuestError(IS_AWAY.test(error.message) ? 'guest_away' : 'guest_failed', error.message, {
      cause: error,
    })
  if (error instanceof IncusUnreachableError)
    return new GuestError('guest_failed', error.message, { cause: error })
  return error
}
