/**
 * The port through which machines change between the hosts of one cluster. Every call may be repeated, and may be cut
 * short by a kill at any point and then repeated.
 */
export interface VpsMigration {
  /**
   * Brings the machine to another host of the cluster, with its disk, its address, its snapshots and its retained disks.
   * Already there: nothing is done. One that runs goes on running there, and its connections stay open; a stopped one
   * stays stopped. One whose host is away is moved where its disk can be read without that host, and is stopped then.
   * @param to the name of the host in its cluster
   * Throws DriverError `machine_unknown`; `unsupported` when it can be moved only while it is stopped, or not without its host;
   * `no_space` and `guest_failed`, whereupon it is as it was.
   */
  move(id: string, to: string): Promise<void>
}
