/**
 * The port through which the service acts inside a running machine, by an agent that runs there as root. The owner of
 * the machine owns the agent too: it may be gone, slow or lie, and its answers are never more than text and numbers
 * within limits. Every call throws GuestError; without the feature `guestCommands` it is `unsupported`.
 */
export interface GuestChannel {
  /** Runs a command by `/bin/sh -c` as root and returns when it has ended, or was ended by the timeout. */
  exec(id: string, request: ExecRequest): Promise<ExecResult>
  /** Up to `length` bytes of a regular file from `offset` on, fewer in a slow guest. Throws `file_refused`, `file_unknown`. */
  readFile(id: string, path: string, range: { offset: number; length: number }): Promise<FilePart>
  /**
   * Replaces a file as a whole, keeping its owner and mode (a new one gets 0644), or writes at `offset` of it.
   * @returns the size of the file afterwards. Throws `file_refused`.
   */
  writeFile(id: string, path: string, content: Uint8Array, offset?: number): Promise<number>
  /** Names the machine, at once and for every boot. */
  setHostname(id: string, hostname: string): Promise<void>
  /** @param hash of crypt(3), as in /etc/shadow */
  setRootPasswordHash(id: string, hash: string): Promise<void>
  /** The counters of the machine's own kernel. Nothing is started inside for it. */
  usage(id: string): Promise<GuestUsage>
  /** Whether an agent answers now. Never throws. */
  alive(id: string): Promise<boolean>
}

export interface ExecRequest {
  command: string
  /** Default `/root`. */
  cwd?: string
  /** Added to a short environment: PATH, HOME, USER, LANG. */
  env?: Record<string, string>
  timeoutMs: number
  /** Standard input; empty without it. */
  input?: string
}

export interface ExecResult {
  stdout: string
  stderr: string
  /** Undefined when it was ended by the timeout. */
  exitCode?: number
  timedOut: boolean
  /** An output was longer than `OUTPUT_BYTES`, and what went beyond is lost. */
  truncated: boolean
  durationMs: number
}

export interface FilePart {
  content: Uint8Array
  /** The size of the whole file, in bytes. */
  size: number
}

export interface GuestUsage {
  /** Memory that programs cannot have: all of it less what is available, as `free` shows it. */
  memoryUsedBytes: number
  /** Time of all processors together since the kernel counts, and how much of it they worked for the machine, in ms. */
  cpu: { busyMs: number; totalMs: number }
}

/** The part of each output of a command that is kept. */
export const OUTPUT_BYTES = 1024 * 1024

export type GuestErrorCode =
  /** The machine does not run, or no agent answers in it. */
  | 'guest_away'
  /** It did not answer in time, or not in the way that an agent does. */
  | 'guest_failed'
  /** No such file, not a regular file, or it cannot be written. */
  | 'file_refused'
  /** There is nothing at the path. */
  | 'file_unknown'
  /** The service cannot act inside the machines of this host. */
  | 'unsupported'

export class GuestError extends Error {
  override name = 'GuestError'
  readonly code: GuestErrorCode

  constructor(code: GuestErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
