import { namesOf } from '../personality/seed.ts'
import { type ExecResult, type GuestChannel, GuestError, OUTPUT_BYTES } from '../ports/guest-channel.ts'
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

/** A program that runs inside a machine as root. */
export interface GuestProgram {
  program: string
  args: string[]
  env: Record<string, string>
  input?: Uint8Array
  /** How long it is waited for. */
  limitMs: number
}

export interface ProgramOutput {
  stdout: Buffer
  stderr: Buffer
  /** Undefined when it was ended by a signal. */
  exitCode: number | undefined
}

/** How programs are run inside machines. */
export interface GuestRunner {
  /**
   * Runs a program to its end. Throws GuestError `guest_away`, `guest_failed`.
   * @returns undefined when it has not ended within its limit
   */
  run(id: string, program: GuestProgram): Promise<ProgramOutput | undefined>
  random: { bytes(length: number): Uint8Array }
}

/** For a program of ours inside, on a busy host with emulation. */
const SCRIPT_MS = 30_000
/** From the end of a command's time: it is asked to end, killed a second later, and its output fetched. */
const ENDING_MS = 3_000
const READ_PIECE_BYTES = OUTPUT_BYTES
/** A guest that is slow gives less at once, rather than late. */
const READ_MS = 35_000
/** The most that a program is given at once, since a serial port carries it in base64. */
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

/** The part of a guest channel that takes nothing but programs of Debian's own, run inside. */
export function createScriptedChannel({ run, random }: GuestRunner): Omit<GuestChannel, 'usage' | 'alive'> {
  const script = async (
    id: string,
    text: string,
    args: string[],
    input?: Uint8Array,
  ): Promise<ProgramOutput> => {
    const seconds = String(SCRIPT_MS / 1000)
    const output = await run(id, {
      program: '/usr/bin/timeout',
      args: ['-k', '1', seconds, '/bin/sh', '-c', text, 'coinrack', ...args],
      env: ENVIRONMENT,
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
      const output = await run(id, {
        program: '/bin/sh',
        args: ['-c', runCommandScript, 'coinrack', String(timeoutMs / 1000), cwd, command],
        env: { ...ENVIRONMENT, ...env },
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
  }
}

function execResult(
  { stdout, stderr, exitCode }: ProgramOutput,
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
