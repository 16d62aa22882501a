import type { VpsRow } from '../machine/vps-store.ts'

/** The service's knowledge of the system on a disk that is kept; binary as base64. */
export interface KeptSystem {
  os_id: number
  os_name: string
  image: string
  hostname: string
  ssh_key: string | null
  ssh_host_public_key: string
  ssh_host_private_key: string
  root_password_hash: string
  /** Sealed; null when it was shown. */
  root_password: string | null
}

export const keptSystem = (row: VpsRow, rootPassword: Buffer | null): KeptSystem => ({
  os_id: row.os_id,
  os_name: row.os_name,
  image: row.image,
  hostname: row.hostname,
  ssh_key: row.ssh_key,
  ssh_host_public_key: row.ssh_host_public_key,
  ssh_host_private_key: row.ssh_host_private_key.toString('base64'),
  root_password_hash: row.root_password_hash,
  root_password: rootPassword?.toString('base64') ?? null,
})

/** The fields of a VPS that has this disk again. Its current name is told to the system in it. */
export const systemOfVps = ({ hostname, root_password, ...system }: KeptSystem, name: string) => ({
  ...system,
  ssh_host_private_key: Buffer.from(system.ssh_host_private_key, 'base64'),
  root_password: root_password === null ? null : Buffer.from(root_password, 'base64'),
  hostname_pending: hostname !== name,
})
