/*
 * Announced when something is wanted, so that the pass that does it does not wait for its time.
 */

/** Of a machine. */
export const RECONCILE_VPS = 'reconcile-vps'
/** Of a snapshot. */
export const RECONCILE_SNAPSHOTS = 'reconcile-snapshots'
/** A name of an address, or none any more. */
export const RECONCILE_RDNS = 'reconcile-rdns'
