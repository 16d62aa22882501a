import type { Handler } from '../../dispatch/handler.ts'
import { askSandbox } from '../tasks/ask-sandbox.ts'

const MIB = 1024 ** 2
const inMb = (bytes: number) => Math.round((bytes / MIB) * 100) / 100

export const getSandboxMetrics: Handler<'getSandboxMetrics'> = async ({ input, resource, services }) => {
  const { sandbox_id: id } = input
  const now = await askSandbox(services, id, resource, (channel) => channel.metrics(id))
  return {
    cpu_seconds: now.cpuSeconds,
    vcpus: now.vcpus,
    memory_used_mb: inMb(now.memoryUsedBytes),
    memory_total_mb: inMb(now.memoryTotalBytes),
    disk_used_mb: inMb(now.diskUsedBytes),
    disk_total_mb: inMb(now.diskTotalBytes),
    processes: now.processes,
  }
}
