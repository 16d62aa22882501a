import { metricNames } from '@coinrack/contract/metrics.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { ranges, servedStep } from './levels.ts'
import { pointsOf } from './metric-store.ts'

const UNITS = {
  cpu_percent: 'percent',
  memory_used_mb: 'mb',
  disk_read_bytes: 'bytes',
  disk_write_bytes: 'bytes',
  rx_bytes: 'bytes',
  tx_bytes: 'bytes',
} as const

export const getVpsMetrics: Handler<'getVpsMetrics'> = async ({ input, db, services }) => {
  const { level, seconds } = ranges[input.range]
  const stepSeconds = servedStep(input.range, input.step)
  const now = Math.floor(services.clock.now().getTime() / 1000)
  // Only whole steps: half a step of bytes would look like less traffic.
  const to = now - (now % stepSeconds)
  const points = await pointsOf(db, input.service_id, level, { from: to - seconds, to, stepSeconds })
  return {
    range: input.range,
    step: stepSeconds,
    series: metricNames.map((name) => ({
      name,
      unit: UNITS[name],
      points: points.flatMap((point) => (point[name] === null ? [] : [[point.step, point[name]]])),
    })),
  }
}
