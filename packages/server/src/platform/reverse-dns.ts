/** The port through which names of addresses are published. Every call may be repeated. */
export interface ReverseDns {
  /**
   * Makes the name the only one that the address has; null: it has none.
   * Throws when the name server did not take it.
   */
  publish(address: string, hostname: string | null): Promise<void>
  /** Whether the name leads to the address, as the world sees it now. */
  leadsTo(hostname: string, address: string): Promise<boolean>
}
