/**
 * The port to states of a machine's disk, and of its memory, that are kept and can be gone back to.
 * Every call may be repeated, and may be cut short by a kill at any point and then repeated.
 */
export interface VpsSnapshots {
  /**
   * Keeps the current state under an id (letters, digits and `_`), while the machine runs on. Does nothing if it is
   * kept already. Throws DriverError `machine_unknown`, `no_space`, `guest_failed`; with memory `guest_failed` also
   * when the machine does not run, and `unsupported` without the feature `memorySnapshots`.
   */
  take(id: string, snapshotId: string, options: { memory: boolean }): Promise<SnapshotTaken>
  /**
   * Brings the machine back to that state. With memory it runs from the moment of the snapshot on; without, it boots
   * from the disk of the snapshot if it ran before. The snapshot is checked to be readable before anything is given up.
   * Throws `snapshot_unknown`, `snapshot_damaged` (the machine is as it was), `machine_unknown`, `guest_failed`.
   */
  restore(id: string, snapshotId: string): Promise<void>
  /** Forgets the state. An unknown one is fine. Throws `machine_unknown`, `guest_failed`. */
  remove(id: string, snapshotId: string): Promise<void>
  list(id: string): Promise<string[]>
}

export interface SnapshotTaken {
  /**
   * `memory`: nothing was lost; `guest`: its file systems were written out first; `crash`: as after a power cut,
   * since the guest's agent did not answer; `off`: the machine did not run.
   */
  consistency: 'memory' | 'guest' | 'crash' | 'off'
}
