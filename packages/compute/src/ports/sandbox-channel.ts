import type { Duplex, Readable } from 'node:stream'

/**
 * The port through which the service works inside a running sandbox, by an agent that runs there. The user of the
 * sandbox may have changed the agent: it may be gone, slow or lie, and its answers are bytes within limits. Work goes
 * on when the service ends; its output can be read afterwards. All calls throw SandboxError: `sandbox_unknown`,
 * `sandbox_paused`, `sandbox_ended`, `guest_failed`, and the codes that they name.
 */
export interface SandboxChannel {
  tasks: SandboxTasks
  files: SandboxFiles
  contexts: CodeContexts
  /** Connects to a TCP port of the sandbox's own loopback. Half-open as TCP is. Throws `port_refused`, `too_many`. */
  connect(id: string, port: number): Promise<Duplex>
  /** The current use of the sandbox, as it says itself. */
  metrics(id: string): Promise<SandboxMetrics>
  /**
   * Its use in the last hour at most, a sample every few seconds while it ran, the oldest first, and the current one. One
   * that began as a copy has none from before.
   */
  history(id: string, between?: { since?: Date; until?: Date }): Promise<SandboxSample[]>
}

/** Programs, and pieces of code, that run in a sandbox. */
export interface SandboxTasks {
  /**
   * Starts a task, and returns when it runs. A task that is known already is not started again.
   * @param taskId of the caller's making: up to 64 letters, digits, `_` and `-`
   * Throws `spec_invalid` (no such user or folder), `context_unknown`, `language_unknown`, `too_many`.
   */
  start(id: string, taskId: string, request: TaskRequest): Promise<StartedTask>
  /** Starts a task, and reads it from its beginning on, in one go: as `start` and `read` do. */
  run(id: string, taskId: string, request: TaskRequest, options?: ReadOptions): Promise<TaskOutput>
  /**
   * Reads the output of the task from these offsets on. Nothing is lost between reads but what the task's `overflow`
   * says. May be asked again, also from earlier offsets, unless the task waits for its reader: output before the
   * offsets is then dropped. Throws `task_unknown`.
   */
  read(id: string, taskId: string, from: TaskOffsets, options?: ReadOptions): Promise<TaskOutput>
  /** Typed into its input; waits while the task does not read. `end` closes it. Throws `task_unknown`, `task_ended`. */
  write(id: string, taskId: string, input: Uint8Array, options?: { end?: boolean }): Promise<void>
  /**
   * To the task's whole process group; `SIGKILL` reaches all that it started, and code in a context stops by `SIGINT`
   * without losing the context. One that has ended is fine. Throws `task_unknown`.
   */
  signal(id: string, taskId: string, signal: TaskSignal): Promise<void>
  /** Throws `task_unknown`, and `spec_invalid` when it has no terminal. */
  resize(id: string, taskId: string, size: TerminalSize): Promise<void>
  list(id: string): Promise<TaskInfo[]>
  /** Kills it, and forgets what it wrote. An unknown one is fine. */
  remove(id: string, taskId: string): Promise<void>
}

export interface StartedTask {
  /** The process id of its first process; undefined for code that waits for other code of its context. */
  pid?: number
}

export interface ReadOptions {
  /** Waits up to so long for more than nothing, or for the task's end. Default 0. */
  waitMs?: number
  /** Waits for its end, or for as much as one read holds at most. */
  untilEnd?: boolean
  /** A name for whoever reads on and on, whom a task with the overflow `follow` waits for. */
  reader?: string
}

export type TaskSignal = 'SIGINT' | 'SIGTERM' | 'SIGKILL' | 'SIGHUP' | 'SIGQUIT' | 'SIGUSR1' | 'SIGUSR2'

export interface TerminalSize {
  columns: number
  rows: number
}

export interface TaskRequest {
  /** A shell's command (`/bin/bash -c`), a program with its arguments, or code for an interpreter. */
  run:
    | { command: string }
    | { program: string[] }
    | {
        code: string
        language: CodeLanguage
        context?: string
        /** Whether results have the forms of `DATA_FORM` and `CHART_FORM` as well. Default: no. */
        data?: boolean
        /** Whether what it throws is in its end alone, and not in `stderr` as well. Default: no. */
        quiet?: boolean
      }
  /** Default: the user's home; of code in a context, the context's. */
  cwd?: string
  /** Added to the sandbox's own. */
  env?: Record<string, string>
  /** A name of /etc/passwd. Default `user`, who may become root by `sudo`. */
  user?: string
  /** It is killed after so long. Default: never. */
  timeoutMs?: number
  /** It gets a terminal, whose output is all in `stdout`. Not for code. */
  terminal?: TerminalSize
  /** Whether its input is open for `write`. Default: it is empty. A terminal's is always open. */
  stdin?: boolean
  /**
   * When more than `OUTPUT_BYTES` of an output were not read: `wait` holds the task up until they are, `drop` forgets
   * the oldest. `follow` waits for its readers that have a name, and goes on without those that stay away for about ten
   * seconds, and at first for its first one. Default `drop`.
   */
  overflow?: 'wait' | 'drop' | 'follow'
}

/** The columns of a table by their names, `{"name": [cell, ...]}`, up to 100,000 cells. */
export const DATA_FORM = 'application/vnd.coinrack.data+json'
/** What a figure shows: `type` (line, scatter, bar, pie, box_and_whisker, superchart), `title`, labels, and `elements`. */
export const CHART_FORM = 'application/vnd.coinrack.chart+json'

export type CodeLanguage = 'python' | 'node' | 'bash'

export interface TaskOffsets {
  stdout: number
  stderr: number
  /** The number of the first result that is wanted. Left out, a read waits for none and tells of none before the end. */
  results?: number
}

/** The part of each output of a task that is kept. */
export const OUTPUT_BYTES = 1024 * 1024
/** The most tasks of a sandbox that are known: those that run and those that ended last together. */
export const TASKS = 256

export interface TaskOutput {
  stdout: Uint8Array
  stderr: Uint8Array
  /** Where these begin: later than asked for when the oldest was dropped. */
  from: TaskOffsets
  /** Where to read on. */
  next: TaskOffsets
  /** The results of code from the offset on, as they are made. */
  results?: CodeResult[]
  /** Undefined while it runs, and until all that it wrote is in a read. */
  end?: TaskEnd
}

export interface TaskEnd {
  /** The exit code of the program; of code 0, or 1 when it threw. Undefined when a signal ended it. */
  exitCode?: number
  /** The signal that ended it. */
  signal?: string
  timedOut: boolean
  durationMs: number
  /** The results of code in a context: its last expression, and what it displayed, in the order of display. */
  results: CodeResult[]
  /** The error that code threw. */
  error?: CodeError
  /** How many pieces of code its interpreter has run, this one included. */
  count?: number
}

/** One thing in all the forms that it has, as text (`image/png` in base64): `text/plain` is always there. */
export interface CodeResult {
  data: Record<string, string>
  /** It is the last expression, not a display. */
  isMain: boolean
}

export interface CodeError {
  name: string
  value: string
  traceback: string
}

export interface TaskInfo {
  taskId: string
  /** The command, program or language. */
  title: string
  isRunning: boolean
  /** The process id of its first process; of the interpreter for code in a context. */
  pid?: number
  startedAt: Date
  /** The program with its arguments; empty for code. */
  args: string[]
  /** The environment of its own, without that of the sandbox. */
  env: Record<string, string>
  /** As it was asked for. */
  cwd?: string
  hasTerminal: boolean
}

/** Interpreters that keep what was defined in them from one piece of code to the next. */
export interface CodeContexts {
  /**
   * Known already: nothing is done. `python`, `node` and `bash` are there, without a call, by these names.
   * @param contextId of the caller's making: up to 64 letters, digits, `_` and `-`
   * Throws `language_unknown`, `spec_invalid`, `too_many`.
   */
  create(id: string, contextId: string, request: { language: CodeLanguage; cwd?: string }): Promise<void>
  list(id: string): Promise<CodeContext[]>
  /** Empties it: code that runs in it is killed. Throws `context_unknown`. */
  restart(id: string, contextId: string): Promise<void>
  /** An unknown one is fine. */
  remove(id: string, contextId: string): Promise<void>
}

export interface CodeContext {
  contextId: string
  language: CodeLanguage
  cwd: string
}

/** Files of a sandbox. Paths that do not begin with `/` are of the user's home. `file_unknown`: there is nothing; `file_refused` says what is in the way. */
export interface SandboxFiles {
  stat(id: string, path: string, options?: FileOptions): Promise<FileInfo>
  /** The files of a folder, sorted by path, and of those below it down to `depth` (default 1); at most 10,000. */
  list(id: string, path: string, options?: FileOptions & { depth?: number }): Promise<FileInfo[]>
  /** The stream has to be read or destroyed. @param options.length default: to its end */
  read(
    id: string,
    path: string,
    options?: FileOptions & { offset?: number; length?: number },
  ): Promise<FileStream>
  /**
   * Replaces the file, or makes it and the folders on the way, when the source has ended: if anything fails before,
   * the file is as it was. @param options.mode of a new file, default 0o644 @returns its size
   */
  write(
    id: string,
    path: string,
    source: AsyncIterable<Uint8Array>,
    options?: FileOptions & { mode?: number },
  ): Promise<number>
  /** With the folders on the way. There already: nothing is done. @returns whether it is new */
  makeFolder(id: string, path: string, options?: FileOptions): Promise<boolean>
  /** With the folders on the way to the new place. A file that is there is replaced. */
  move(id: string, from: string, to: string, options?: FileOptions): Promise<void>
  /** A folder with all that is in it. One that is not there is fine. */
  remove(id: string, path: string, options?: FileOptions): Promise<void>
  /**
   * Changes in a folder from the moment on that this resolves, until the signal aborts; `overflow` when there were too
   * many to tell.
   */
  watch(
    id: string,
    path: string,
    options: FileOptions & { recursive?: boolean; signal: AbortSignal },
  ): Promise<AsyncIterable<FileEvent>>
}

export interface FileOptions {
  /** The user whose rights are used, and who owns new files. Default `user`. */
  user?: string
}

export interface FileInfo {
  path: string
  type: 'file' | 'folder' | 'link' | 'other'
  size: number
  /** The permission bits. */
  mode: number
  user: string
  group: string
  modifiedAt: Date
  /** The target of a link. */
  target?: string
}

export interface FileStream {
  content: Readable
  /** The size of the whole file. */
  size: number
}

export interface FileEvent {
  type: 'created' | 'written' | 'removed' | 'renamed' | 'mode' | 'overflow'
  /** Relative to the watched folder. */
  path: string
}

export interface SandboxMetrics {
  /** Seconds of all processors since its kernel booted, which may have been in a template. */
  cpuSeconds: number
  vcpus: number
  memoryUsedBytes: number
  memoryTotalBytes: number
  diskUsedBytes: number
  diskTotalBytes: number
  processes: number
}

export interface SandboxSample extends Omit<SandboxMetrics, 'processes'> {
  at: Date
  /** In percent of one processor, since the sample before: 200 is two that are busy. */
  cpuPercent: number
  /** Files that are kept in memory, which is not counted as used. */
  memoryCacheBytes: number
}
