import type { HostFeatures } from '@coinrack/compute/ports/vps-driver.ts'
import { type VpsFeature, vpsFeatures } from '@coinrack/contract/features.ts'

/** A feature of a host under the name that it is stored by. One that decides only where a VPS is placed is not shown. */
export type StoredFeature = VpsFeature | 'port_forwarding' | 'own_addresses'

const NAMES: Record<keyof HostFeatures, StoredFeature> = {
  firewall: 'firewall',
  ownAddresses: 'own_addresses',
  portForwarding: 'port_forwarding',
  ipv6: 'ipv6',
  memorySnapshots: 'memory_snapshots',
  retainedDisks: 'retained_disks',
  serialConsole: 'serial_console',
  screen: 'screen',
  rescue: 'rescue',
  guestCommands: 'guest_commands',
}

/** The names of the features that a host says it has. */
export const featureNames = (features: HostFeatures): StoredFeature[] =>
  (Object.keys(NAMES) as (keyof HostFeatures)[]).filter((key) => features[key]).map((key) => NAMES[key])

/** The features that a customer is shown, in the order of the contract. */
export const shownFeatures = (stored: readonly string[]): VpsFeature[] =>
  vpsFeatures.filter((feature) => stored.includes(feature))
