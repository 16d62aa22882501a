import type { SandboxNetwork } from '@coinrack/compute/ports/sandbox-network.ts'
import type { SandboxSpec } from '@coinrack/compute/ports/sandbox-runtime.ts'
import type { Services } from '../../platform/services.ts'
import type { NetworkJson, SandboxRow } from './sandbox-store.ts'

export const networkOf = ({ allow_internet, allow_out, deny_out }: NetworkJson): SandboxNetwork => ({
  allowInternet: allow_internet,
  allowOut: allow_out,
  denyOut: deny_out,
})

const envPurpose = (id: string) => `sandbox-env:${id}`

export const sealEnv = ({ sealer }: Pick<Services, 'sealer'>, id: string, env: Record<string, string>) =>
  sealer.seal(JSON.stringify(env), envPurpose(id))

export const openEnv = (
  { sealer }: Pick<Services, 'sealer'>,
  { id, env }: Pick<SandboxRow, 'id' | 'env'>,
): Record<string, string> => JSON.parse(sealer.open(env, envPurpose(id)))

/** The sandbox that the runtime is asked for. */
export const specOf = (services: Pick<Services, 'sealer'>, row: SandboxRow): SandboxSpec => ({
  id: row.id,
  template: row.template,
  vcpus: row.vcpus,
  memoryMb: row.memory_mb,
  diskGb: row.disk_gb,
  env: openEnv(services, row),
  network: networkOf(row.network),
})
