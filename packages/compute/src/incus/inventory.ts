import type { VpsCapacity } from '../ports/vps-driver.ts'
import type { IncusClient } from './client.ts'
import { mebibytes } from './instance.ts'

const GIB = 1024 ** 3
/** The shares of a member that machines may have; the rest is for its system, Incus and QEMU itself. */
const MEMORY_SHARE = 0.85
const DISK_SHARE = 0.9
/** Guests rarely compute all at once. */
const VCPUS_PER_CORE = 8

interface MemberState {
  sysinfo: { total_ram: number }
  storage_pools: Record<string, { space: { total: number } }>
}

interface Resources {
  cpu: { total: number }
}

/** All that a member may give to machines together. The cluster itself refuses no machine that does not fit. */
export async function memberCapacity(
  client: IncusClient,
  { member, pool }: { member: string; pool: string },
): Promise<VpsCapacity> {
  const [{ value: state }, { value: resources }] = await Promise.all([
    client.get<MemberState>(`/1.0/cluster/members/${member}/state`),
    client.get<Resources>('/1.0/resources', { query: { target: member } }),
  ])
  const space = state.storage_pools[pool]?.space.total
  if (space === undefined) throw new Error(`Member ${member} has no storage pool ${pool}`)
  return {
    vcpus: resources.cpu.total * VCPUS_PER_CORE,
    memoryMb: mebibytes(state.sysinfo.total_ram * MEMORY_SHARE),
    diskGb: Math.floor((space * DISK_SHARE) / GIB),
  }
}
