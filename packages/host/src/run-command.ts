import { spawn } from 'node:child_process'
import { asUserWithCaller, type RunAs } from './as-user.ts'
import { programEnvironment } from './environment.ts'

export interface RunCommandOptions {
  /** Written to the program's standard input, which is then closed; without it, standard input is empty. */
  input?: string | Uint8Array
  /** After this long the program gets SIGTERM, and two seconds later SIGKILL. Default ten minutes. */
  timeoutMs?: number
  /** Ends the program as the timeout does. */
  signal?: AbortSignal
  cwd?: string
  /** Added to the short environment of `programEnvironment`. */
  env?: Record<string, string>
  /** Runs the program as this user; only root can. */
  user?: RunAs
  /** Called with each line of standard output and standard error as it comes (carriage returns end lines too). */
  onLine?: (line: string) => void
}

export interface CommandOutput {
  stdout: string
  stderr: string
}

const DEFAULT_TIMEOUT_MS = 10 * 60_000
const KILL_AFTER_MS = 2_000
/** The exit code of setpriv when there is no such program. */
const NOT_FOUND = 127
const OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024
const TAIL_CHARACTERS = 2_000

/** A program that could not be started, failed, was ended by a signal, or took too long. */
export class CommandError extends Error {
  override name = 'CommandError'
  readonly command: string
  /** Null when the program never ran or was ended by a signal. */
  readonly exitCode: number | null
  /** The end of what it wrote to standard error. */
  readonly stderr: string

  constructor(command: string, exitCode: number | null, stderr: string, reason?: string) {
    const tail = stderr.slice(-TAIL_CHARACTERS).trim()
    super(`${command}: ${reason ?? `exit code ${exitCode}`}${tail && `\n${tail}`}`)
    this.command = command
    this.exitCode = exitCode
    this.stderr = tail
  }
}

/**
 * Runs a program to its end and returns what it wrote.
 * Throws CommandError unless it exits with 0. It never outlives the caller: the kernel sees to that. No shell is involved: arguments are passed as they are.
 */
export function runCommand(
  command: string,
  args: string[] = [],
  options: RunCommandOptions = {},
): Promise<CommandOutput> {
  const { promise, resolve, reject } = Promise.withResolvers<CommandOutput>()
  const [program, argv] = asUserWithCaller(options.user, command, args)
  const child = spawn(program, argv, {
    cwd: options.cwd,
    env: programEnvironment(options.env, options.user !== undefined),
    stdio: 'pipe',
  })

  let stopReason: string | undefined
  let killTimer: NodeJS.Timeout | undefined
  const stop = (reason: string) => {
    if (stopReason !== undefined) return
    stopReason = reason
    child.kill('SIGTERM')
    killTimer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS)
  }

  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS
  const timer = setTimeout(() => stop(`took longer than ${timeoutMs / 1000} s`), timeoutMs)
  const onAbort = () => stop('was called off')
  options.signal?.addEventListener('abort', onAbort, { once: true })
  if (options.signal?.aborted) onAbort()

  const output = { stdout: '', stderr: '' }
  const flushers = (['stdout', 'stderr'] as const).map((name) => {
    const lines = splitLines(options.onLine)
    child[name].setEncoding('utf8')
    child[name].on('data', (text: string) => {
      output[name] += text
      if (output[name].length > OUTPUT_LIMIT_BYTES) stop(`wrote more than ${OUTPUT_LIMIT_BYTES} characters`)
      lines.add(text)
    })
    return lines.flush
  })

  // A program may end without reading its input: that is its own business, its exit code tells.
  child.stdin.on('error', () => {})
  child.stdin.end(options.input)

  const settle = () => {
    clearTimeout(timer)
    clearTimeout(killTimer)
    options.signal?.removeEventListener('abort', onAbort)
  }
  const fail = (exitCode: number | null, reason?: string) =>
    reject(new CommandError(command, exitCode, output.stderr, reason))
  child.on('error', (error) => {
    settle()
    fail(null, `could not be started (${error.message})`)
  })
  child.on('exit', () => {
    // Its own children may hold the pipes open long after it was stopped.
    if (stopReason === undefined) return
    child.stdout.destroy()
    child.stderr.destroy()
  })
  child.on('close', (exitCode, signal) => {
    settle()
    for (const flush of flushers) flush()
    if (stopReason !== undefined) fail(exitCode, stopReason)
    else if (exitCode === 0) resolve(output)
    else if (exitCode === NOT_FOUND && output.stderr.startsWith('setpriv:'))
      fail(null, 'could not be started')
    else fail(exitCode, signal ? `ended by ${signal}` : undefined)
  })
  return promise
}

function splitLines(onLine: ((line: string) => void) | undefined) {
  let rest = ''
  return {
    add(text: string) {
      if (!onLine) return
      const lines = (rest + text).split(/\r\n|\n|\r/)
      rest = lines.pop() ?? ''
      for (const line of lines) onLine(line)
    },
    flush() {
      if (onLine && rest !== '') onLine(rest)
    },
  }
}
