import type { SnapshotTaken } from './snapshot.ts'

/**
 * The port to disks that are kept beside their machines: after the machine was destroyed, or before it gets another.
 * Every call may be repeated, and may be cut short by a kill at any point and then repeated. Without the feature
 * `retainedDisks` there are none: `setAside` and `putBack` throw DriverError `unsupported`, and the machine stays as it is.
 */
export interface RetainedDisks {
  /**
   * Ends the machine and takes its disk away, as it is, to be kept under an id (letters, digits and `_`): the machine
   * can only be destroyed then. Kept already: nothing is done. Throws DriverError `machine_unknown`, `no_space`.
   */
  setAside(id: string, keptId: string): Promise<Pick<SnapshotTaken, 'consistency'>>
  /** Whether it is kept, and can be read. */
  isSound(id: string, keptId: string): Promise<boolean>
  /**
   * Makes it the disk of the machine, which must have none: stopped, as it was then, but for the snapshots that were
   * inside. It is kept no more. Throws `snapshot_unknown`, `no_space`, and `guest_failed` when the machine has a disk.
   */
  putBack(id: string, keptId: string): Promise<void>
  /** Forgets it. An unknown one is fine. */
  remove(id: string, keptId: string): Promise<void>
  list(id: string): Promise<string[]>
}
