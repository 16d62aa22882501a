import { z } from 'zod'
import { operation } from './operation.ts'
import { SandboxId, sandboxExample } from './sandboxes.ts'
import { Timestamp } from './wire.ts'

const measured = {
  vcpus: z.number(),
  memory_used_mb: z.number(),
  memory_total_mb: z.number(),
  disk_used_mb: z.number(),
  disk_total_mb: z.number(),
}

export const sandboxMetrics = {
  getSandboxMetrics: operation({
    access: 'sandbox',
    rate: 'default',
    resource: 'sandbox',
    method: 'GET',
    path: '/sandboxes/{id}/metrics',
    summary: 'Show what a sandbox uses',
    description:
      'Shows the processor time, memory, disk and processes of a sandbox, as its own system measures them. With since, also what it used from then on, in the last hour at most.',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({
      sandbox_id: SandboxId,
      since: z.iso.datetime({ offset: true }).optional(),
      until: z.iso.datetime({ offset: true }).optional().describe('Default: now'),
    }),
    output: z.object({
      cpu_seconds: z.number(),
      ...measured,
      processes: z.number().int(),
      samples: z
        .array(
          z.object({
            at: Timestamp,
            cpu_percent: z.number().describe('Of one processor'),
            ...measured,
            memory_cache_mb: z.number(),
          }),
        )
        .optional()
        .describe('With since: the oldest first'),
    }),
    errors: ['sandbox_not_running', 'sandbox_unreachable', 'sandboxes_unavailable'],
    example: sandboxExample,
  }),
}
