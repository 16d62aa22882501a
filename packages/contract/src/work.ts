import { z } from 'zod'
import { Id } from './ids.ts'
import { operation } from './operation.ts'
import { Timestamp, WaitSeconds } from './wire.ts'

export const workKinds = [
  'start',
  'stop',
  'reboot',
  'cancel',
  'set_hostname',
  'reset_password',
  'reinstall',
  'change_plan',
  'enter_rescue',
  'leave_rescue',
] as const

/** Work on a service that goes on after the answer: on the wire it is an "operation". */
export const Work = z.object({
  id: Id('operation'),
  service_id: Id('service'),
  kind: z.enum(workKinds),
  status: z
    .enum(['running', 'succeeded', 'failed', 'superseded'])
    .describe('superseded: a later call wanted something else before it was done'),
  progress: z.string().describe('The present or last step, in a few words'),
  error: z.string().nullable().describe('Why it failed, or was superseded'),
  created_at: Timestamp,
  ended_at: Timestamp.nullable(),
})

export const work = {
  getOperation: operation({
    method: 'GET',
    path: '/operations/{id}',
    summary: 'Show an operation on a VPS',
    description:
      'Shows how far an operation on a VPS is, such as a reinstall. Every change of a VPS answers one. With wait=done the answer comes when it has ended, or after timeout seconds (at most 50): repeat while status is running.',
    access: 'read',
    rate: 'default',
    resource: 'operation',
    delegable: true,
    effect: 'read',
    idempotent: true,
    input: z.strictObject({
      operation_id: Id('operation'),
      wait: z.literal('done').optional(),
      timeout: WaitSeconds.default(30),
    }),
    output: Work,
    errors: [],
    example: { operation_id: 'op_01kabcdefghjkmnpqrstvwxyz0', wait: 'done', timeout: 50 },
    next: (answer) =>
      answer.status === 'running'
        ? [
            {
              tool: 'get_operation',
              why: 'It goes on: wait here until it has ended',
              arguments: { operation_id: answer.id, wait: 'done', timeout: 50 },
            },
          ]
        : [
            {
              tool: 'get_vps_status',
              why: 'See the VPS as it is now',
              arguments: { service_id: answer.service_id },
            },
          ],
  }),
}

/** Advice after a change of a VPS: wait for its operation. */
export const awaitWork = (answer: Record<string, unknown>) => {
  const { id, status } = (answer.operation ?? {}) as { id?: string; status?: string }
  return status === 'succeeded'
    ? []
    : [
        {
          tool: 'get_operation',
          why: 'Wait until it is done',
          arguments: { operation_id: id, wait: 'done', timeout: 50 },
        },
      ]
}
