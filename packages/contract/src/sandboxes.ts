import { z } from 'zod'
import { balanceFields } from './balance.ts'
import { approvalErrors } from './common-errors.ts'
import { Environment } from './guest-shapes.ts'
import { Id } from './ids.ts'
import { listOperation, operation } from './operation.ts'
import { Network, NetworkInput } from './sandbox-network.ts'
import { sandboxTariffs, tariffNames } from './sandbox-tariffs.ts'
import { formatUsd, PlainText, paging, Timestamp, Usd, WaitSeconds } from './wire.ts'

export const sandboxStates = [
  'starting',
  'running',
  'pausing',
  'paused',
  'resuming',
  'ended',
  'failed',
] as const

/** Why a sandbox was paused or ended. */
export const sandboxReasons = [
  'asked',
  'timeout',
  'idle',
  'balance',
  'owed',
  'budget',
  'kept_too_long',
  'crashed',
  'host_lost',
  'failed',
] as const

const Metadata = z
  .record(z.string().max(100), z.string().max(1000))
  .refine((metadata) => JSON.stringify(metadata).length <= 16_384, 'Expected at most 16 KiB in all')

export const SandboxId = Id('sandbox')
const Timeout = z.number().int().min(1).max(86_400)
const IdleTimeout = z.number().int().min(0).max(86_400)

export const Sandbox = z.object({
  id: SandboxId,
  state: z.enum(sandboxStates),
  reason: z.enum(sandboxReasons).nullable().describe('Why it paused or ended'),
  failure: z.string().nullable(),
  tariff: z.enum(tariffNames),
  template: z.string(),
  mode: z.enum(['ephemeral', 'persistent']),
  vcpus: z.number(),
  memory_mb: z.number().int(),
  disk_gb: z.number().int(),
  price_per_hour: Usd,
  seconds: z.number().describe('Run time without pauses'),
  cost: Usd.describe('For those seconds'),
  timeout: z.number().int(),
  idle_timeout: z.number().int(),
  expires_at: Timestamp.nullable().describe('When it ends or, if persistent, pauses'),
  network: Network,
  metadata: z.record(z.string(), z.string()),
  parent_id: SandboxId.nullable().describe('Forked from this sandbox'),
  created_at: Timestamp,
  ended_at: Timestamp.nullable(),
})

export const SandboxSnapshot = z.object({
  id: Id('snapshot').describe('Also the template of new sandboxes'),
  sandbox_id: SandboxId,
  name: z.string(),
  status: z.enum(['creating', 'ready', 'failed', 'deleting']),
  tariff: z.enum(tariffNames),
  size_mb: z.number().int().nullable(),
  created_at: Timestamp,
})

const sandbox = { sandbox_id: SandboxId }
export const sandboxExample = { sandbox_id: 'sbx01kabcdefghjkmnpqrstvwxyz0' }
const one = { access: 'sandbox', rate: 'default', resource: 'sandbox' } as const
export const PaidSandbox = Sandbox.extend(balanceFields)
/** The errors that may prevent one more running sandbox. */
export const startErrors = [
  'insufficient_balance',
  'account_owes',
  'budget_exceeded',
  'capacity',
  'network_unavailable',
  'sandboxes_unavailable',
] as const
export const runErrors = [...startErrors, ...approvalErrors] as const
export const useSandbox = (body: Record<string, unknown>) => [
  {
    tool: 'run_code',
    why: 'Run code in it',
    arguments: { sandbox_id: body.id, language: 'python', code: 'print(1)' },
  },
  { tool: 'exec_command', why: 'Or a command', arguments: { sandbox_id: body.id, command: 'uname -a' } },
  {
    tool: 'kill_sandbox',
    why: 'End it when done: it costs while it runs',
    arguments: { sandbox_id: body.id },
  },
]

const prices = tariffNames
  .map((name) => {
    const { vcpus, memory_mb, price_per_hour } = sandboxTariffs[name]
    return `${name} ${vcpus}/${memory_mb / 1024}/${formatUsd(price_per_hour)}`
  })
  .join(', ')

export const sandboxFields = {
  tariff: z.enum(tariffNames).optional().describe('Default: micro, or that of the template'),
  template: z.string().max(100).default('base').describe('base, code-interpreter, yours, or a snapshot id'),
  mode: z.enum(['ephemeral', 'persistent']).default('ephemeral'),
  timeout: Timeout.default(300).describe('Seconds'),
  idle_timeout: IdleTimeout.default(300).describe('Seconds; 0: never'),
  env: Environment.default({}),
  metadata: Metadata.default({}),
  network: NetworkInput.optional().describe('Default: the internet, if hosts have networks'),
}

export const sandboxes = {
  createSandbox: operation({
    method: 'POST',
    path: '/sandboxes',
    everyday: true,
    summary: 'Start a sandbox',
    description: `Starts an isolated Linux micro-VM for Python, Node.js and shell, running when this answers, paid by the second from the balance. The tariffs in vCPU/GB/USD an hour: ${prices}. It ends (persistent: pauses) after timeout seconds, after idle_timeout seconds without use, or when the balance ends.`,
    access: 'sandbox',
    withoutAccount: 'buySandbox',
    rate: 'sandboxes',
    effect: 'spend',
    idempotent: false,
    input: z.strictObject(sandboxFields),
    output: PaidSandbox,
    created: ({ id }) => `/sandboxes/${id}`,
    errors: [...runErrors, 'unknown_template'],
    example: { tariff: 'micro', timeout: 300 },
    next: useSandbox,
  }),
  listSandboxes: listOperation({
    method: 'GET',
    path: '/sandboxes',
    everyday: true,
    summary: 'List sandboxes',
    description: 'Lists sandboxes that are not over, or are in one state, newest first.',
    access: 'sandbox',
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({
      ...paging,
      state: z.enum(sandboxStates).optional(),
      // Pairs as a query has them, `app=a&user=b`: the guide says so, for the list of tools has no room.
      metadata: z.string().optional(),
    }),
    output: Sandbox,
    errors: [],
    example: {},
  }),
  getSandbox: operation({
    ...one,
    ofProgram: true,
    method: 'GET',
    path: '/sandboxes/{id}',
    summary: 'Show a sandbox',
    description:
      'Shows a sandbox with what it has cost so far. With wait the answer comes when it is in that state, or over, or after timeout seconds.',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({
      ...sandbox,
      wait: z.enum(['running', 'paused', 'ended']).optional(),
      timeout: WaitSeconds.default(30),
    }),
    output: Sandbox,
    errors: [],
    example: sandboxExample,
  }),
  killSandbox: operation({
    ...one,
    ofProgram: true,
    method: 'DELETE',
    path: '/sandboxes/{id}',
    everyday: true,
    summary: 'End a sandbox',
    description: 'Ends a sandbox with all that is in it. It costs nothing from then on. Its snapshots stay.',
    effect: 'destructive',
    idempotent: true,
    input: z.strictObject(sandbox),
    output: PaidSandbox,
    errors: ['sandboxes_unavailable'],
    example: sandboxExample,
  }),
  setSandboxTimeout: operation({
    ...one,
    closedTo: ['program'],
    method: 'POST',
    path: '/sandboxes/{id}/timeout',
    summary: 'Change the timeouts of a sandbox',
    description:
      'Changes when a sandbox ends by itself. The new timeout counts from now on, and the new idle_timeout from its last use.',
    effect: 'write',
    idempotent: true,
    input: z.strictObject({
      ...sandbox,
      timeout: Timeout.optional().describe('Seconds'),
      idle_timeout: IdleTimeout.optional().describe('Seconds; 0: never'),
    }),
    output: Sandbox,
    errors: ['sandbox_not_running', ...approvalErrors],
    example: { ...sandboxExample, timeout: 3600 },
  }),
  setSandboxNetwork: operation({
    ...one,
    method: 'PUT',
    path: '/sandboxes/{id}/network',
    summary: 'Set the network rules of a sandbox',
    description:
      'Replaces the rules for what a sandbox may reach, while it runs; connections that stay allowed go on. With names in a list, names are resolved by its own resolver alone, which refuses the others. The host, other machines, private networks and mail are never reached.',
    effect: 'write',
    idempotent: true,
    input: z.strictObject({ ...sandbox, ...NetworkInput.shape }),
    output: Sandbox,
    errors: ['sandbox_not_running', 'network_unavailable', 'sandboxes_unavailable'],
    example: { ...sandboxExample, allow_internet: false, allow_out: ['pypi.org'] },
  }),
  pauseSandbox: operation({
    ...one,
    method: 'POST',
    path: '/sandboxes/{id}/pause',
    summary: 'Pause a sandbox',
    description:
      'Pauses a sandbox and keeps its memory and disk for 30 days. It costs nothing meanwhile, also when it is ephemeral.',
    effect: 'write',
    idempotent: true,
    input: z.strictObject(sandbox),
    output: PaidSandbox,
    errors: ['sandbox_not_running', 'sandbox_unreachable', 'sandboxes_unavailable'],
    example: sandboxExample,
    next: (body) => [{ tool: 'resume_sandbox', why: 'Let it go on', arguments: { sandbox_id: body.id } }],
  }),
  resumeSandbox: operation({
    ...one,
    method: 'POST',
    path: '/sandboxes/{id}/resume',
    rate: 'sandboxes',
    summary: 'Resume a paused sandbox',
    description: 'Resumes a paused sandbox: its programs go on where they were, and its timeout begins anew.',
    effect: 'spend',
    idempotent: true,
    input: z.strictObject({
      ...sandbox,
      timeout: Timeout.optional().describe('Seconds; default: as before'),
    }),
    output: PaidSandbox,
    errors: [...runErrors, 'sandbox_not_running', 'sandbox_damaged', 'sandbox_unreachable'],
    example: sandboxExample,
    next: useSandbox,
  }),
  forkSandbox: operation({
    ...one,
    method: 'POST',
    path: '/sandboxes/{id}/fork',
    rate: 'sandboxes',
    summary: 'Fork a sandbox',
    description:
      'Makes a second sandbox that goes on from where the first is now, with its memory, files and programs. It is paid like any other, and the first stays as it was.',
    effect: 'spend',
    idempotent: false,
    input: z.strictObject({
      ...sandbox,
      timeout: Timeout.optional().describe('Seconds; the same as the sandbox that is forked, by default'),
      metadata: Metadata.optional(),
    }),
    output: PaidSandbox,
    created: ({ id }) => `/sandboxes/${id}`,
    errors: [...runErrors, 'sandbox_not_running', 'sandbox_unreachable'],
    example: sandboxExample,
    next: useSandbox,
  }),
  createSandboxSnapshot: operation({
    ...one,
    method: 'POST',
    path: '/sandboxes/{id}/snapshots',
    summary: 'Snapshot a sandbox',
    description:
      'Keeps memory, files and programs of a sandbox, which runs on. Its id is a template for sandboxes of the same tariff. An account can have 20.',
    effect: 'write',
    idempotent: false,
    input: z.strictObject({ ...sandbox, name: PlainText(60).optional() }),
    output: z.object({ snapshot: SandboxSnapshot }),
    errors: [
      'sandbox_not_running',
      'sandbox_unreachable',
      'sandbox_snapshot_limit',
      'capacity',
      'sandboxes_unavailable',
    ],
    example: { ...sandboxExample, name: 'ready' },
  }),
  listSandboxSnapshots: listOperation({
    method: 'GET',
    path: '/sandbox-snapshots',
    summary: 'List snapshots of sandboxes',
    description: 'Lists your snapshots of sandboxes, newest first.',
    access: 'sandbox',
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ ...paging }),
    output: SandboxSnapshot,
    errors: [],
    example: {},
  }),
  deleteSandboxSnapshot: operation({
    method: 'DELETE',
    path: '/sandbox-snapshots/{id}',
    summary: 'Delete a snapshot of a sandbox',
    description: 'Deletes a sandbox snapshot. Sandboxes made from it live on.',
    access: 'sandbox',
    rate: 'default',
    resource: 'snapshot',
    effect: 'destructive',
    idempotent: true,
    input: z.strictObject({ snapshot_id: Id('snapshot') }),
    output: z.object({ deleted: Id('snapshot') }),
    errors: ['sandboxes_unavailable'],
    example: { snapshot_id: 'snp_01kabcdefghjkmnpqrstvwxyz0' },
  }),
}
