import { z } from 'zod'
import { Id } from './ids.ts'
import { operation } from './operation.ts'

export const metricRanges = ['1h', '24h', '7d', '30d'] as const

export const metricNames = [
  'cpu_percent',
  'memory_used_mb',
  'disk_read_bytes',
  'disk_write_bytes',
  'rx_bytes',
  'tx_bytes',
] as const

export const metrics = {
  getVpsMetrics: operation({
    method: 'GET',
    path: '/services/{id}/metrics',
    summary: 'Show the metrics of a VPS',
    description:
      'Shows how a VPS used processor, memory, disk and network over the last 1h, 24h, 7d or 30d. A point is [unix seconds, value] for the step that begins then: the mean of cpu_percent (100 is one busy processor, two reach 200) and memory_used_mb (as free shows it), the sum of the bytes. Processor and memory are what the VPS itself counts; without its guest agent, what it takes of the host. Steps without an observation have no point. Longer ranges have coarser steps; "step" in the answer says which one you got.',
    access: 'read',
    rate: 'default',
    resource: 'service',
    delegable: true,
    effect: 'read',
    idempotent: true,
    input: z.strictObject({
      service_id: Id('service'),
      range: z.enum(metricRanges).default('1h'),
      step: z.coerce
        .number()
        .int()
        .min(15)
        .max(86_400)
        .optional()
        .describe('Seconds; rounded up to what is kept for the range'),
    }),
    output: z.object({
      range: z.enum(metricRanges),
      step: z.number().int().describe('Seconds'),
      series: z.array(
        z.object({
          name: z.enum(metricNames),
          unit: z.enum(['percent', 'mb', 'bytes']),
          points: z.array(z.array(z.number())).describe('[unix seconds, value], oldest first'),
        }),
      ),
    }),
    errors: [],
    example: { service_id: 'vps_01kabcdefghjkmnpqrstvwxyz0', range: '24h' },
  }),
}
