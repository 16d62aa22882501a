import { readFileSync } from 'node:fs'
import type { Duplex } from 'node:stream'
import { setTimeout as pass } from 'node:timers/promises'
import type { SandboxChannel } from '@coinrack/compute/ports/sandbox-channel.ts'
import { SandboxError } from '@coinrack/compute/ports/sandbox-runtime.ts'
import type { OutputStream } from '../../dispatch/handler.ts'
import type { Services } from '../../platform/services.ts'
import { type Done, runTask } from '../tasks/run-task.ts'
import { createPrinted } from './printed.ts'
import { type AskOperation, type CallCount, relayCalls } from './relay.ts'

const CLIENT = readFileSync(new URL('./client.cjs', import.meta.url), 'utf8')
/** Ports of the loopback that nothing listens on by itself. */
const PORTS = { from: 20_000, count: 10_000 }
/** How long the client is waited for before the service tries again, in milliseconds: at first, and at most. */
const AGAIN_MS = { first: 4, most: 200 }
const LONGEST = { name: 100, message: 2_000 }

/** What became of a program. */
export interface Ran {
  stdout: string
  stderr: string
  left_out: { stdout: number; stderr: number }
  exit_code: number | null
  timed_out: boolean
  error: { name: string; message: string; line: number | null } | null
  operations: CallCount[]
}

/**
 * Runs a program in a sandbox that runs, and carries its calls, until the program has ended or its time is over. Whatever
 * the sandbox does, nothing is asked for afterwards.
 * @param program JavaScript; `seconds` is how long it may take, and `gone` ends it earlier
 * @returns also what became of a program whose sandbox was lost on the way
 */
export async function runInSandbox(
  { newId, random, log }: Pick<Services, 'newId' | 'random' | 'log'>,
  channel: SandboxChannel,
  id: string,
  program: { code: string; seconds: number; gone: AbortSignal },
  ask: AskOperation,
): Promise<Ran> {
  const port = PORTS.from + (Buffer.from(random.bytes(4)).readUInt32BE() % PORTS.count)
  const printed = { stdout: createPrinted('stdout'), stderr: createPrinted('stderr') }
  const stream: OutputStream = {
    async emit(name, { text }) {
      printed[name as keyof typeof printed].add(String(text))
      return true
    },
    gone: program.gone,
  }
  const task = {
    run: { code: around(program.code, port), language: 'node' as const },
    env: { [CLIENT_VARIABLE]: CLIENT },
  }
  const asked = { timeout: program.seconds, background: false }
  const over = new AbortController()
  const running = runTask(channel, { id, taskId: newId('task') }, task, asked, {
    stream,
    gone: stream.gone,
    asTask: false,
  }).finally(() => over.abort())
  const relaying = connect(channel, id, port, over.signal).then(
    (connection) => connection && relayCalls(connection, ask),
  )
  const done = await running.catch((error): undefined => {
    if (!(error instanceof SandboxError)) throw error
    log.warn({ err: error, sandbox: id }, 'The sandbox of a program was lost')
  })
  const relay = await relaying
  await relay?.end()
  return { ...shown(done), ...shownOutputs(printed), operations: relay?.counts() ?? [] }
}

const CLIENT_VARIABLE = 'COINRACK_CLIENT'

/** The program, behind what makes its global and in front of what waits for its end. Its lines are those that were sent. */
const around = (code: string, port: number) =>
  `globalThis[Symbol.for('coinrack.end')] = (0, eval)(process['env'].${CLIENT_VARIABLE})(${port}); delete process['env'].${CLIENT_VARIABLE}; ${code}
;await globalThis[Symbol.for('coinrack.end')]()`

/** Connects to the client in the sandbox, as soon as it listens; undefined when it never does. */
async function connect(
  channel: SandboxChannel,
  id: string,
  port: number,
  over: AbortSignal,
): Promise<Duplex | undefined> {
  for (let wait = AGAIN_MS.first; !over.aborted; wait = Math.min(2 * wait, AGAIN_MS.most)) {
    try {
      return await channel.connect(id, port)
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error
      if (error.code !== 'port_refused') return undefined
      await pass(wait, undefined, { signal: over }).catch(() => {})
    }
  }
  return undefined
}

function shownOutputs({ stdout, stderr }: Record<'stdout' | 'stderr', ReturnType<typeof createPrinted>>) {
  const [out, err] = [stdout.shown(), stderr.shown()]
  return {
    stdout: out.text,
    stderr: err.text,
    left_out: { stdout: out.cut, stderr: err.cut },
  }
}

function shown(done: Done | undefined): Pick<Ran, 'exit_code' | 'timed_out' | 'error'> {
  if (!done) {
    const message = 'The sandbox ended before the program did'
    return { exit_code: null, timed_out: false, error: { name: 'SandboxLost', message, line: null } }
  }
  const { exit_code, timed_out, end } = done
  return { exit_code, timed_out, error: end.error ? readError(end.error) : null }
}

/** The error of a program, as the sandbox tells it. */
function readError({ name, value, traceback }: { name: string; value: string; traceback: string }) {
  const line = /<code \d+>:(\d{1,7})\b/.exec(traceback)?.[1]
  return {
    name: name.slice(0, LONGEST.name),
    message: value.slice(0, LONGEST.message),
    line: line === undefined ? null : Number(line),
  }
}
