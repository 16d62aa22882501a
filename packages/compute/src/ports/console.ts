import type { Duplex } from 'node:stream'

export type ConsoleType = 'serial' | 'vnc'

/** The port to a running machine's own terminal and screen, as if one stood in front of it. */
export interface VpsConsole {
  /**
   * Connects: `serial` carries what is typed and shown on the serial line, `vnc` the RFB protocol (RFC 6143) without
   * authentication. The stream ends when the machine does. A serial line has one reader: a new one takes it over.
   * Throws DriverError `machine_unknown`, `guest_failed` when the machine does not run, and `unsupported` for a serial line
   * without the feature `serialConsole`, or a screen without `screen`.
   */
  connect(id: string, type: ConsoleType): Promise<Duplex>
}
