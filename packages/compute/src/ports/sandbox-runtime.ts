import type { SandboxNetwork } from './sandbox-network.ts'

/**
 * The port through which the service runs code sandboxes, each a virtual machine of its own, on one host (or cluster).
 * A runtime knows sandboxes by id and nothing of customers or money. Every call may be repeated, and may be cut short
 * by a kill at any point and then repeated; calls for one sandbox take their turns. All throw SandboxError.
 */
export interface SandboxRuntime {
  /**
   * Makes the sandbox and lets it run: when this returns, it takes work over its channel. One that was made already
   * stays as it is, also paused or ended. Of calls at the same moment one sandbox comes; of one that failed or was cut
   * short nothing is observed, and it may be made again.
   * Throws `template_unknown`, `template_not_ready`, `snapshot_damaged`, `spec_invalid`, `unsupported`, `no_space`,
   * `guest_failed`.
   */
  ensure(spec: SandboxSpec): Promise<void>
  /**
   * Every sandbox that there is, by id: cheap for thousands, since it asks the host alone, once. What is not in it does
   * not exist.
   */
  observe(): Promise<ReadonlyMap<string, SandboxObservation>>
  /** Nothing of the sandbox is left. An unknown one is fine. */
  destroy(id: string): Promise<SandboxEnd>
  /**
   * Stops the sandbox and keeps its memory and disk on the host's disk, with their sums; the host's memory is free
   * again. Paused already: nothing is done. When it fails, it runs on.
   * Throws `sandbox_unknown`, `sandbox_ended`, `no_space`, `guest_failed`.
   */
  pause(id: string): Promise<void>
  /**
   * Lets a paused sandbox go on where it stopped, with the current time and new randomness. Does nothing if it runs
   * already. The saved state is checked first, and kept until it runs. Throws `sandbox_unknown`, `sandbox_ended`,
   * `state_damaged`, `no_space`, `guest_failed`; it is paused then.
   */
  resume(id: string): Promise<void>
  /**
   * Makes another sandbox that goes on from where this one is now, running or paused, which itself stays as it was, with
   * a randomness, a name and an environment of its own. Template and size have to be its parent's. Otherwise as `ensure`.
   * Throws `sandbox_unknown`, `sandbox_ended` and what `ensure` throws.
   */
  fork(id: string, spec: SandboxSpec): Promise<void>
  /**
   * Keeps what the sandbox is now, running or paused, as a template by this id (`snp_...`), from which sandboxes of the
   * same processor share, memory and disk are made. It outlives the sandbox. Kept already: nothing is done.
   * Throws `sandbox_unknown`, `sandbox_ended`, `no_space`, `guest_failed`.
   */
  takeSnapshot(id: string, snapshotId: string): Promise<SandboxSnapshot>
  /** Sandboxes that were made from it live on. An unknown one is fine. */
  removeSnapshot(snapshotId: string): Promise<void>
  /**
   * Prepares a snapshot that is kept here for many sandboxes: they begin as copies of its memory from then on, or wait
   * already, as those of the catalog do. The host may forget it at any time, and does nothing where it has no room for it.
   * Throws `template_unknown`.
   */
  keepWarm(snapshotId: string): Promise<void>
  /** Snapshots that are kept here, so that orphans can be found. */
  snapshots(): Promise<SandboxSnapshot[]>
  /**
   * Makes the network of the sandbox so, now and whenever it goes on: in one step, and connections that are open and
   * still allowed go on. Throws `sandbox_unknown`, `spec_invalid`, `unsupported`, `guest_failed`.
   */
  applyNetwork(id: string, network: SandboxNetwork): Promise<void>
  /** Whether sandboxes here have networks; where not, they reach nothing, and that is what `applyNetwork` takes. */
  hasNetworks(): Promise<boolean>
  templates(): Promise<TemplateStatus[]>
  /** All that may be given to running sandboxes together: the total, not what is free now. */
  capacity(): Promise<SandboxCapacity>
}

/** The share of the host that one sandbox may take. */
export interface SandboxSize {
  /**
   * Processors: that many as a share when the host is busy, up to the next whole number when it is not. More than one
   * only whole.
   */
  vcpus: number
  memoryMb: number
  /** The space that can be written beside the template. */
  diskGb: number
}

export interface SandboxSpec extends SandboxSize {
  /** The sandbox's identity for ever: `sbx` and 26 characters of Crockford base32. */
  id: string
  /** A name of the catalog (`base`, `code-interpreter`), or the id of a snapshot. */
  template: string
  /**
   * The environment of every program in it, unless a task has its own. Names of POSIX, `[A-Za-z_][A-Za-z0-9_]*`; at
   * most 64 KiB.
   */
  env?: Record<string, string>
  /** Default: `closedNetwork`. */
  network?: SandboxNetwork
}

export interface SandboxObservation {
  /** `ended`: by itself, or with the host; it is not coming back, and is there to be destroyed. */
  state: 'running' | 'paused' | 'ended'
  /** Why it ended, for the operator. */
  reason?: string
  /**
   * Milliseconds that it has run since it was made, by the clock of the host, pauses left out. Never falls, and never
   * counts time in which it did not run: where its end was not observed, time up to the last observation before it.
   */
  ranMs: number
}

/** The last measurements of a sandbox that is gone. */
export interface SandboxEnd {
  /** As in SandboxObservation; undefined when there was no such sandbox. */
  ranMs?: number
}

export interface SandboxSnapshot {
  id: string
  /** The size of the sandbox that it was taken of. */
  size: SandboxSize
  /** Bytes of the host's disk. */
  bytes: number
}

export interface TemplateStatus {
  /** A name of the catalog. */
  name: string
  state: 'missing' | 'building' | 'ready' | 'failed'
  /** The step being built, or why it failed. */
  detail?: string
}

export interface SandboxCapacity {
  vcpus: number
  memoryMb: number
  diskGb: number
  /** How many processes computed or waited to, on average in the last minute, for each processor of the host. */
  load: number
}

export const sandboxErrorCodes = [
  'template_unknown',
  /** It is known, but not built yet: try later. */
  'template_not_ready',
  /** This host can never make such a sandbox, or do such a thing. */
  'spec_invalid',
  /** This host allows sandboxes no networks. */
  'unsupported',
  'no_space',
  'sandbox_unknown',
  /** It is paused: resume it first. */
  'sandbox_paused',
  'sandbox_ended',
  /** The files that were kept differ from what was saved. They are not used, and the last good state is kept. */
  'state_damaged',
  /** The snapshot is not what was saved. */
  'snapshot_damaged',
  /** It did not start, or does not answer in the way that it should. Only this sandbox is concerned. */
  'guest_failed',
  /** The host cannot be reached at the moment; what runs there goes on. */
  'host_unreachable',
  /** There is no such artifact here, or not all of it. */
  'artifact_unknown',
  /** A file of an artifact is not what it was said to be. */
  'artifact_damaged',
  /** There is nothing at the path. */
  'file_unknown',
  /** The path is of another kind, or may not be touched. */
  'file_refused',
  /** There is no such task in it (any more). */
  'task_unknown',
  /** The task has ended, or its input is closed. */
  'task_ended',
  /** There is no such code context in it (any more). */
  'context_unknown',
  /** The template has no interpreter of that language. */
  'language_unknown',
  /** Nothing listens there. */
  'port_refused',
  /** As many tasks, contexts or connections as one sandbox may have. */
  'too_many',
] as const

export type SandboxErrorCode = (typeof sandboxErrorCodes)[number]

/** The error of a runtime and its channel; `code` is stable, the message names the values. */
export class SandboxError extends Error {
  override name = 'SandboxError'
  readonly code: SandboxErrorCode

  constructor(code: SandboxErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
