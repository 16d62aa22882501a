/*
 * Announced when something is wanted, so that the pass that does it does not wait for its time.
 */

/** Something is wanted of a machine. */
export const RECONCILE_VPS = 'reconcile-vps'
/** Something is wanted of a snapshot. */
export const RECONCILE_SNAPSHOTS = 'reconcile-snapshots'
/** A name is wanted for an address, or no longer wanted. */
export const RECONCILE_RDNS = 'reconcile-rdns'
