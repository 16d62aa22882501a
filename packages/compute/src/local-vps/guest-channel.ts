import { join } from 'node:path'
import { oneAtATime } from '@coinrack/host/one-at-a-time.ts'
import { guestFiles } from '../machine/command-line.ts'
import { isMachineId } from '../machine/machine-id.ts'
import { namesOf } from '../personality/seed.ts'
import { type ExecResult, type GuestChannel, GuestError, OUTPUT_BYTES } from '../ports/guest-channel.ts'
import { readUsage } from '../ports/guest-usage.ts'
import { type AgentOptions, askAgent, type RunOutput, readByAgent, runInGuest } from './guest-agent.ts'
import {
  findTargetScript,
  MISSING,
  REFUSED,
  readFileScript,
  replaceFileScript,
  runCommandScript,
  setHostnameScript,
  writeAtScript,
} from './guest-scripts.ts'

export interface GuestChannelOptions {
  /** The data folder of the driver. */
  dataFolder: string
  random: { bytes(length: number): Uint8Array }
}

/** For a program of ours inside, on a busy host with emulation. */
const SCRIPT_MS = 30_000
/** From the end of a command's time: it is asked to end, killed a second later, and its output fetched. */
const ENDING_MS = 3_000
const READ_PIECE_BYTES = OUTPUT_BYTES
/** The figures in a file of the kernel stand at its beginning. */
const USAGE_BYTES = 4096
/** A guest that is slow gives less at once, rather than late. */
const READ_MS = 35_000
/** An argument of the agent goes through a serial port and comes in base64. */
const WRITE_PIECE_BYTES = 512 * 1024
/** coreutils' timeout(1): ended by it, and killed. */
const ENDED_BY_TIMEOUT = [124, 137]

const ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  USER: 'root',
  LOGNAME: 'root',
  SHELL: '/bin/bash',
  LANG: 'C.UTF-8',
}

/** Acts inside the machines of the QEMU driver, by the guest agent that their images have. */
export function createQemuGuestChannel({ dataFolder, random }: GuestChannelOptions): GuestChannel {
  return createAgentChannel((id) => join(dataFolder, 'machines', id, guestFiles.agent), random)
}

/** The same for agents at any sockets. */
export function createAgentChannel(
  socketOf: (id: string) => string,
  random: GuestChannelOptions['random'],
  syncMs?: number,
): GuestChannel {
  const oneByOne = oneAtATime()
  const newMark = () => Buffer.from(random.bytes(4)).readUInt32BE()

  /** QEMU serves one client at a time: a second one would wait for the first, and its time would run. */
  const agentOf = (id: string): AgentOptions => {
    if (!isMachineId(id)) throw new GuestError('guest_away', `There is no machine ${id}`)
    return { path: socketOf(id), newMark, ...(syncMs === undefined ? {} : { syncMs }) }
  }
  const ask: typeof askAgent = (agent, execute, args) =>
    oneByOne(agent.path, () => askAgent(agent, execute, args))

  const script = async (id: string, text: string, args: string[], input?: Uint8Array): Promise<RunOutput> => {
    const seconds = String(SCRIPT_MS / 1000)
    const output = await runInGuest(agentOf(id), ask, {
      program: '/usr/bin/timeout',
      args: ['-k', '1', seconds, '/bin/sh', '-c', text, 'coinrack', ...args],
      env: environment(),
      ...(input ? { input } : {}),
      limitMs: SCRIPT_MS + ENDING_MS,
    })
    if (!output) throw new GuestError('guest_failed', 'A program inside did not end')
    if (output.exitCode === 0) return output
    const why = output.stderr.toString('utf8').trim().slice(-300)
    if (output.exitCode === MISSING) throw new GuestError('file_unknown', why)
    if (output.exitCode === REFUSED) throw new GuestError('file_refused', why)
    throw new GuestError('guest_failed', `A program inside failed with ${output.exitCode}: ${why}`)
  }

  return {
    async exec(id, { command, cwd = '/root', env = {}, timeoutMs, input }) {
      const begun = performance.now()
      const output = await runInGuest(agentOf(id), ask, {
        program: '/bin/sh',
        args: ['-c', runCommandScript, 'coinrack', String(timeoutMs / 1000), cwd, command],
        env: environment(env),
        ...(input === undefined ? {} : { input: Buffer.from(input) }),
        limitMs: timeoutMs + ENDING_MS,
      })
      const durationMs = Math.round(performance.now() - begun)
      // A program that it left behind holds its outputs open: what it wrote is not known.
      if (!output) return { stdout: '', stderr: '', timedOut: true, truncated: true, durationMs }
      return execResult(output, durationMs, timeoutMs)
    },

    async readFile(id, path, { offset, length }) {
      const end = performance.now() + READ_MS
      const pieces: Buffer[] = []
      let size = 0
      for (let have = 0; have < length; ) {
        const wanted = Math.min(READ_PIECE_BYTES, length - have)
        const { stdout, stderr } = await script(id, readFileScript, [
          path,
          String(offset + have),
          String(wanted),
        ])
        size = sizeFrom(stderr)
        if (stdout.length > wanted) throw new GuestError('guest_failed', 'The guest sent more than was asked')
        pieces.push(stdout)
        have += stdout.length
        if (stdout.length < wanted || performance.now() > end) break
      }
      return { content: Buffer.concat(pieces), size }
    },

    async writeFile(id, path, content, offset) {
      const target = (await script(id, findTargetScript, [path])).stdout.toString('utf8')
      const part = `${target}.${Buffer.from(random.bytes(6)).toString('hex')}.part`
      const into = offset === undefined ? part : target
      let size = 0
      for (let have = 0; have === 0 || have < content.length; have += WRITE_PIECE_BYTES) {
        const piece = content.subarray(have, have + WRITE_PIECE_BYTES)
        const { stdout } = await script(id, writeAtScript, [into, String((offset ?? 0) + have)], piece)
        size = sizeFrom(stdout)
      }
      if (offset === undefined) await script(id, replaceFileScript, [part, target])
      return size
    },

    async setHostname(id, hostname) {
      await script(id, setHostnameScript, [hostname, namesOf(hostname)])
    },

    async setRootPasswordHash(id, hash) {
      await script(id, 'chpasswd -e', [], Buffer.from(`root:${hash}\n`))
    },

    async usage(id) {
      const agent = agentOf(id)
      const read = (path: string) => readByAgent(agent, ask, path, USAGE_BYTES)
      return readUsage(await read('/proc/stat'), await read('/proc/meminfo'))
    },

    alive: async (id) =>
      isMachineId(id) &&
      ask(agentOf(id), 'guest-ping').then(
        () => true,
        () => false,
      ),
  }
}

const environment = (env: Record<string, string> = {}) =>
  Object.entries({ ...ENVIRONMENT, ...env }).map(([name, value]) => `${name}=${value}`)

function execResult(
  { stdout, stderr, exitCode }: RunOutput,
  durationMs: number,
  timeoutMs: number,
): ExecResult {
  const timedOut = durationMs >= timeoutMs && exitCode !== undefined && ENDED_BY_TIMEOUT.includes(exitCode)
  const cut = (output: Buffer) => output.subarray(0, OUTPUT_BYTES).toString('utf8')
  return {
    stdout: cut(stdout),
    stderr: cut(stderr),
    ...(timedOut || exitCode === undefined ? {} : { exitCode }),
    timedOut,
    truncated: stdout.length > OUTPUT_BYTES || stderr.length > OUTPUT_BYTES,
    durationMs,
  }
}

function sizeFrom(output: Buffer): number {
  const size = Number(output.toString('utf8').trim())
  if (!Number.isSafeInteger(size) || size < 0) throw new GuestError('guest_failed', 'The guest said no size')
  return size
}
