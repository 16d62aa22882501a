import { userDataBytes } from '../ports/user-data.ts'
import type { VpsSpec } from '../ports/vps-driver.ts'
import type { TarEntry } from './tar.ts'

/** Where cloud-init looks for what its data source NoCloud was given. */
const SEED = 'var/lib/cloud/seed/nocloud/'

/** The files by which a new machine finds its user data; none without any. */
export function userDataFiles({
  id,
  hostname,
  userData,
}: Pick<VpsSpec, 'id' | 'hostname' | 'userData'>): TarEntry[] {
  if (userData === undefined) return []
  return [
    { path: 'var/lib/cloud/seed/', mode: 0o755 },
    { path: SEED, mode: 0o700 },
    { path: `${SEED}meta-data`, mode: 0o600, content: `instance-id: ${id}\nlocal-hostname: ${hostname}\n` },
    { path: `${SEED}user-data`, mode: 0o600, content: userDataBytes(userData) },
    { path: 'run/cloud-init/', mode: 0o755 },
    // For "cloud-init status --wait", which else says that there is nothing to wait for.
    { path: 'run/cloud-init/enabled', mode: 0o644 },
  ]
}
