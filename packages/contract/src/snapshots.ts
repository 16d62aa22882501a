import { z } from 'zod'
import { approvalErrors } from './common-errors.ts'
import { Id } from './ids.ts'
import { listOperation, operation } from './operation.ts'
import { Flag, PlainText, paging, Timestamp, WaitSeconds } from './wire.ts'

export const snapshotStatuses = [
  'creating',
  'ready',
  'restoring',
  'damaged',
  'failed',
  'deleting',
  'deleted',
] as const

export const Snapshot = z.object({
  id: Id('snapshot'),
  service_id: Id('service'),
  name: z.string(),
  reason: z
    .enum(['reinstall', 'cancel'])
    .nullable()
    .describe('Taken by the service before that; null for one that was asked for'),
  status: z.enum(snapshotStatuses),
  include_memory: z.boolean(),
  consistency: z
    .enum(['memory', 'guest', 'crash', 'off'])
    .nullable()
    .describe(
      'memory: nothing was lost; guest: file systems were written out first; crash: as after a power cut; off: the VPS was stopped',
    ),
  failure_reason: z.string().nullable(),
  created_at: Timestamp,
  expires_at: Timestamp.nullable().describe('When it deletes itself; null for never'),
})

const one = { service_id: Id('service'), snapshot_id: Id('snapshot') }
const example = {
  service_id: 'vps_01kabcdefghjkmnpqrstvwxyz0',
  snapshot_id: 'snp_01kabcdefghjkmnpqrstvwxyz0',
}

const watch = (answer: Record<string, unknown>) => [
  {
    tool: 'list_snapshots',
    why: 'Wait until it is done',
    arguments: {
      service_id: (answer.snapshot as { service_id: string } | undefined)?.service_id,
      wait: 'settled',
      timeout: 50,
    },
  },
]

const change = { access: 'manage', rate: 'default', resource: 'service', idempotent: true } as const
const output = z.object({ snapshot: Snapshot })

export const snapshots = {
  createSnapshot: operation({
    ...change,
    method: 'POST',
    path: '/services/{id}/snapshots',
    summary: 'Snapshot a VPS',
    description:
      'Keeps the state of a VPS as a snapshot, while it runs on. With include_memory its running programs are kept too, and it stands still for some seconds. A snapshot counts against the limit of the plan and lives on the disk of the VPS: it is no backup against the loss of the host.',
    effect: 'write',
    idempotent: false,
    input: z.strictObject({
      service_id: Id('service'),
      name: PlainText(60).optional(),
      include_memory: Flag.default(false),
    }),
    output,
    errors: ['service_busy', 'unsupported', 'snapshot_busy', 'snapshot_limit'],
    example: { service_id: example.service_id, name: 'before upgrade', include_memory: false },
    next: watch,
  }),
  listSnapshots: listOperation({
    method: 'GET',
    path: '/services/{id}/snapshots',
    summary: 'List the snapshots of a VPS',
    description:
      'Lists the snapshots of a VPS, newest first. Those with a reason were taken by the service, delete themselves and do not count against the plan. With wait=settled the answer comes when none is being created, restored or deleted, or after timeout seconds (at most 50).',
    access: 'read',
    rate: 'default',
    resource: 'service',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({
      service_id: Id('service'),
      ...paging,
      wait: z.enum(['settled']).optional(),
      timeout: WaitSeconds.default(30),
    }),
    output: Snapshot,
    errors: [],
    example: { service_id: example.service_id },
  }),
  restoreSnapshot: operation({
    ...change,
    method: 'POST',
    path: '/services/{id}/snapshots/{snapshot_id}/restore',
    summary: 'Restore a VPS from a snapshot',
    description:
      'Brings a VPS back to a snapshot. What came after the snapshot is lost, passwords and keys included. A snapshot with a reason brings the whole disk of that time back, once, with its system and host key. A cancelled VPS comes back, paid for one month from the balance. A snapshot with memory lets the VPS run on from that moment; without, a running VPS boots from the disk of that time. A snapshot that cannot be read is refused (status damaged), and the VPS stays as it is.',
    effect: 'destructive',
    input: z.strictObject(one),
    output,
    errors: [
      'service_busy',
      'snapshot_busy',
      'budget_exceeded',
      ...approvalErrors,
      'insufficient_balance',
      'account_owes',
      'capacity',
    ],
    example,
    next: watch,
  }),
  deleteSnapshot: operation({
    ...change,
    method: 'DELETE',
    path: '/services/{id}/snapshots/{snapshot_id}',
    summary: 'Delete a snapshot of a VPS',
    description:
      'Deletes a snapshot of a VPS. Its space is free again, and its place among the snapshots of the plan.',
    effect: 'destructive',
    input: z.strictObject(one),
    output,
    errors: ['service_busy', 'snapshot_busy'],
    example,
  }),
}
