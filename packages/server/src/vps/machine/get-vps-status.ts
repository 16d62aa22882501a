import type { Handler } from '../../dispatch/handler.ts'
import type { Metrics } from '../../dispatch/read-models.ts'
import { takeRootPassword } from './machine-store.ts'
import { type VpsReadModel, vpsReadModel } from './read-model.ts'
import { vpsById } from './vps-store.ts'
import { vpsView } from './vps-view.ts'

const NOTHING_SEEN: Metrics = {
  cpu_percent: null,
  memory_used_mb: null,
  disk_used_gb: null,
  rx_bytes: null,
  tx_bytes: null,
  uptime_s: null,
}

export const getVpsStatus: Handler<'getVpsStatus'> = async ({
  input,
  caller,
  resource,
  db,
  services,
  until,
}) => {
  const id = input.service_id
  const row: VpsReadModel = input.wait
    ? await until(
        id,
        input.timeout,
        () => vpsById(db, id),
        (seen) => isReached(input.wait!, seen) || seen.status === 'failed' || seen.status === 'deleted',
      )
    : vpsReadModel(resource)

  const mayReveal = input.reveal && caller.scopes.includes('manage') && !resource.delegated
  const reveal = mayReveal && row.password_available && row.ssh_ready && row.status === 'active'
  const sealed = reveal ? await takeRootPassword(db, id) : undefined
  return {
    ...vpsView(row),
    // Taken by this read, or by another at the same moment.
    password_available: row.password_available && !reveal,
    ...(sealed ? { root_password: services.sealer.open(sealed, `root-password:${id}`) } : {}),
    metrics: row.observation ?? NOTHING_SEEN,
  }
}

const isReached = (wanted: 'ssh_ready' | 'active' | 'stopped' | 'deleted', row: VpsReadModel) =>
  wanted === 'ssh_ready' ? row.ssh_ready : row.status === wanted
