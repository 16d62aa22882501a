import { z } from 'zod'

/** The features in which hosts, and with them their VPS, differ. */
export const vpsFeatures = [
  /** A firewall, and ports of the host that lead to the VPS. */
  'firewall',
  'ipv6',
  'memory_snapshots',
  /** The disk is kept for a while when the VPS is cancelled or reinstalled. */
  'retained_disks',
  'serial_console',
  'screen',
  'rescue',
  /** Commands and files by the guest agent. */
  'guest_commands',
] as const

export type VpsFeature = (typeof vpsFeatures)[number]

export const Features = z.array(z.enum(vpsFeatures))
