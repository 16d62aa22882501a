import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { asUser, type RunAs } from './as-user.ts'
import { programEnvironment } from './environment.ts'
import { isShownLocked } from './held-lock.ts'
import { CommandError, runCommand } from './run-command.ts'

/*
 * Programs that outlive the process that started them: PostgreSQL, chain nodes, virtual machines.
 *
 * The program holds an flock on its own pid file for as long as it lives: a shell takes the lock, writes its process id
 * and becomes the program, which inherits the open file. The kernel frees the lock at the program's end, however it
 * ends. So a held lock means "it runs", a free one means "it does not", and a second start of the same pid file can
 * not happen, even when a starter is killed half-way. Pid files are never deleted here: a deleted lock locks nothing.
 */

export interface DetachedProgram {
  /** The name in error messages. */
  name: string
  command: string
  args: string[]
  /** Added to the short environment of `programEnvironment`. */
  env?: Record<string, string>
  cwd?: string
  pidFile: string
  /** Standard output and standard error are appended here. */
  logFile: string
  /** Runs the program as this user; only root can. */
  user?: RunAs
  /**
   * Instead of becoming `user` by `setpriv`: words that run last before the program, and go on as that user, in a child
   * of theirs. They write its number into the pid file, which is open as PID_DESCRIPTOR, and end once it is the program.
   */
  jail?: string[] | undefined
  /**
   * The words of programs that run first, with the caller's rights, each of which becomes the next and at last the
   * program: `nsenter --net=...` for one.
   */
  within?: string[]
  /** Open files of this process that the program gets too, as descriptors 4, 5 and so on. */
  inherit?: number[]
}

/** The descriptor of the pid file, in all programs that run before the program, and in the program. */
export const PID_DESCRIPTOR = 9
const ALREADY_RUNS = 75
const ENDED_WELL = 'exit code 0'
/** How long children that a killed program left behind get to go, before a start of the same pid file fails. */
const LEFTOVERS_SECONDS = 3

const SHELL = `exec ${PID_DESCRIPTOR}<>"$PID_FILE" || exit 73
flock -w ${LEFTOVERS_SECONDS} ${PID_DESCRIPTOR} || exit ${ALREADY_RUNS}
echo $$ >"$PID_FILE" || exit 73
unset PID_FILE
echo locked >&3
exec 3>&-
exec "$@"`

/** The program of this pid file runs already. */
export class AlreadyRunsError extends Error {
  override name = 'AlreadyRunsError'
}

/**
 * Starts a program that goes on when this process ends, and returns its process id.
 * Resolves when the program itself has taken over from the shell; whether it is ready to serve is the caller's to ask.
 * Throws AlreadyRunsError when the pid file is held, and an Error with the end of the log when it cannot be started.
 */
export async function startDetached(program: DetachedProgram): Promise<number> {
  const { name, pidFile, logFile } = program
  const running = await adoptDetached(pidFile)
  if (running) throw new AlreadyRunsError(`${name} runs already (process ${running})`)

  await mkdir(dirname(pidFile), { recursive: true })
  await mkdir(dirname(logFile), { recursive: true })
  const { within = [], jail } = program
  const [command, ...args] = jail
    ? ([...jail, program.command, ...program.args] as [string, ...string[]])
    : asUser(program.user, program.command, program.args).flat()
  const shell = ['sh', '-c', SHELL, 'sh', ...within, command!, ...args]
  const launchers = new Set(['setpriv', ...within, ...(jail ?? [])])
  const log = await open(logFile, 'a', 0o600)
  try {
    const child = spawn(shell[0]!, shell.slice(1), {
      cwd: program.cwd ?? '/',
      env: { ...programEnvironment(program.env, program.user !== undefined), PID_FILE: pidFile },
      stdio: ['ignore', log.fd, log.fd, 'pipe', ...(program.inherit ?? [])],
      detached: true,
    })
    child.unref()
    let ended: string | undefined
    child.once('exit', (code, signal) => {
      ended = signal ?? `exit code ${code}`
      if (code === ALREADY_RUNS) ended = 'lock held'
    })
    await once(child, 'spawn')

    const said = await text(child.stdio[3] as NodeJS.ReadableStream & AsyncIterable<Buffer>)
    while (
      said !== '' &&
      ended === undefined &&
      (jail || (await isStillLauncher(child.pid!, shell, launchers)))
    )
      await sleep(1)
    if (said === '') while (ended === undefined) await sleep(1)

    if (ended === 'lock held') throw new AlreadyRunsError(`${name} runs already: ${pidFile} is locked`)
    if (jail && ended === ENDED_WELL) return (await readPid(pidFile))!
    if (ended !== undefined) throw new Error(`${name} did not start (${ended})\n${await tail(logFile)}`)
    return child.pid!
  } finally {
    await log.close()
  }
}

/** The process id of the program of this pid file while it runs, else undefined. */
export async function adoptDetached(pidFile: string): Promise<number | undefined> {
  // Asked all the time of what runs, so it starts a program only where the kernel's list does not say.
  if (!(await isShownLocked(pidFile)) && (await becomesFree(pidFile, 0))) return undefined
  const pid = await readPid(pidFile)
  return pid !== undefined && isAlive(pid) ? pid : undefined
}

/**
 * Ends the program of this pid file: `signal` first, SIGKILL after `timeoutMs` (default ten seconds).
 * Does nothing when it does not run. When this returns, the program and whatever inherited its lock are gone.
 */
export async function stopDetached(
  pidFile: string,
  { signal = 'SIGTERM', timeoutMs = 10_000 }: { signal?: NodeJS.Signals; timeoutMs?: number } = {},
): Promise<void> {
  if (await becomesFree(pidFile, 0)) return
  const pid = await readPid(pidFile)
  if (pid !== undefined) {
    sendSignal(pid, signal)
    if (await becomesFree(pidFile, timeoutMs)) return
    sendSignal(pid, 'SIGKILL')
    // Children in its process group that outlived it keep the lock.
    sendSignal(-pid, 'SIGKILL')
  }
  if (await becomesFree(pidFile, LEFTOVERS_SECONDS * 1000)) return
  throw new Error(`Process ${pid ?? 'unknown'} of ${pidFile} does not end, not even by SIGKILL`)
}

/** True as soon as the lock of the pid file is free, false after `timeoutMs`. */
async function becomesFree(pidFile: string, timeoutMs: number): Promise<boolean> {
  const file = await open(pidFile, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (!file) return true
  await file.close()
  try {
    await runCommand('flock', ['--shared', '--wait', String(timeoutMs / 1000), pidFile, 'true'], {
      timeoutMs: timeoutMs + 10_000,
    })
    return true
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === 1) return false
    throw error
  }
}

async function readPid(pidFile: string): Promise<number | undefined> {
  const pid = Number.parseInt(await readFile(pidFile, 'utf8'), 10)
  return pid > 1 ? pid : undefined
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Whether the process is still the shell or a launcher, or has ended and waits for its exit to be noticed. */
async function isStillLauncher(pid: number, shell: string[], launchers: Set<string>): Promise<boolean> {
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return line === '' || launchers.has(line.split('\0')[0]!) || line === `${shell.join('\0')}\0`
}

async function tail(file: string): Promise<string> {
  return (await readFile(file, 'utf8').catch(() => '')).slice(-2_000)
}
