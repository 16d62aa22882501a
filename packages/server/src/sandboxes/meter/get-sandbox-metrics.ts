import type { SandboxMetrics } from '@coinrack/compute/ports/sandbox-channel.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { askSandbox } from '../tasks/ask-sandbox.ts'

const MIB = 1024 ** 2
const inMb = (bytes: number) => Math.round((bytes / MIB) * 100) / 100

export const getSandboxMetrics: Handler<'getSandboxMetrics'> = async ({ input, resource, services }) => {
  const { sandbox_id: id, since, until } = input
  return askSandbox(services, id, resource, async (channel) => {
    const now = await channel.metrics(id)
    const shown = { cpu_seconds: now.cpuSeconds, ...measured(now), processes: now.processes }
    if (since === undefined) return shown
    const between = { since: new Date(since), ...(until !== undefined && { until: new Date(until) }) }
    const samples = (await channel.history(id, between)).map((sample) => ({
      at: sample.at,
      cpu_percent: sample.cpuPercent,
      ...measured(sample),
      memory_cache_mb: inMb(sample.memoryCacheBytes),
    }))
    return { ...shown, samples }
  })
}

const measured = (now: Omit<SandboxMetrics, 'processes'>) => ({
  vcpus: now.vcpus,
  memory_used_mb: inMb(now.memoryUsedBytes),
  memory_total_mb: inMb(now.memoryTotalBytes),
  disk_used_mb: inMb(now.diskUsedBytes),
  disk_total_mb: inMb(now.diskTotalBytes),
})
