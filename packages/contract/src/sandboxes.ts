import { z } from 'zod'
import { balanceFields } from './balance.ts'
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
  'failed',
] as const

const DAY_S = 86_400
const LANGUAGE_NAMES = 'base, code-interpreter'

const Metadata = z
  .record(z.string().max(100), z.string().max(1000))
  .refine((metadata) => JSON.stringify(metadata).length <= 16_384, 'Expected at most 16 KiB in all')

export const SandboxId = Id('sandbox')
const Timeout = z.number().int().min(1).max(DAY_S)
const IdleTimeout = z.number().int().min(0).max(DAY_S)

export const Sandbox = z.object({
  id: SandboxId,
  state: z.enum(sandboxStates),
  reason: z.enum(sandboxReasons).nullable().describe('Why it was paused or ended'),
  failure: z.string().nullable(),
  tariff: z.enum(tariffNames),
  template: z.string(),
  mode: z.enum(['ephemeral', 'persistent']),
  vcpus: z.number(),
  memory_mb: z.number().int(),
  disk_gb: z.number().int(),
  price_per_hour: Usd,
  seconds: z.number().describe('That it has run, pauses left out'),
  cost: Usd.describe('Of those'),
  timeout: z.number().int(),
  idle_timeout: z.number().int(),
  expires_at: Timestamp.nullable().describe('When it ends, or pauses when it is persistent'),
  network: Network,
  metadata: z.record(z.string(), z.string()),
  parent_id: SandboxId.nullable().describe('What it was forked from'),
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
const answer = z.object({ sandbox: Sandbox })
const paidAnswer = z.object({ sandbox: Sandbox, ...balanceFields })
/** What may be in the way of one more that runs. */
const start = [
  'insufficient_balance',
  'account_owes',
  'budget_exceeded',
  'capacity',
  'network_unavailable',
  'sandboxes_unavailable',
] as const

const idOf = (body: Record<string, unknown>) => (body.sandbox as { id?: string } | undefined)?.id
const useIt = (body: Record<string, unknown>) => [
  {
    tool: 'run_code',
    why: 'Run code in it',
    arguments: { sandbox_id: idOf(body), language: 'python', code: 'print(1)' },
  },
  { tool: 'exec_command', why: 'Or a command', arguments: { sandbox_id: idOf(body), command: 'uname -a' } },
  {
    tool: 'kill_sandbox',
    why: 'End it when done: it costs while it runs',
    arguments: { sandbox_id: idOf(body) },
  },
]

const prices = tariffNames
  .map((name) => {
    const { vcpus, memory_mb, price_per_hour } = sandboxTariffs[name]
    return `${name} ${vcpus} vCPU ${memory_mb / 1024} GB ${formatUsd(price_per_hour)}`
  })
  .join(', ')

export const sandboxes = {
  createSandbox: operation({
    method: 'POST',
    path: '/sandboxes',
    summary: 'Start a code sandbox',
    description: `An isolated Linux micro-VM for Python, Node.js and shell, running when this answers. Paid by the second of running from the balance; its next minute is held. USD an hour: ${prices}. After timeout seconds, idle_timeout seconds without use, or when the balance ends, it ends (persistent: pauses).`,
    access: 'sandbox',
    rate: 'sandboxes',
    effect: 'spend',
    idempotent: false,
    input: z.strictObject({
      tariff: z.enum(tariffNames).optional().describe('Default: micro, or that of the snapshot'),
      template: z.string().max(100).default('base').describe(`${LANGUAGE_NAMES}, or the id of a snapshot`),
      mode: z.enum(['ephemeral', 'persistent']).default('ephemeral'),
      timeout: Timeout.default(300).describe('Seconds'),
      idle_timeout: IdleTimeout.default(300).describe('Seconds; 0: never'),
      env: Environment.default({}),
      metadata: Metadata.default({}),
      network: NetworkInput.optional().describe('Default: the internet, where the host has networks'),
    }),
    output: paidAnswer,
    errors: [...start, 'unknown_template'],
    example: { tariff: 'micro', timeout: 300 },
    next: useIt,
  }),
  listSandboxes: listOperation({
    method: 'GET',
    path: '/sandboxes',
    summary: 'List sandboxes',
    description: 'Newest first: those that are not over, or those of one state.',
    access: 'sandbox',
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ ...paging, state: z.enum(sandboxStates).optional() }),
    output: Sandbox,
    errors: [],
    example: {},
  }),
  getSandbox: operation({
    ...one,
    method: 'GET',
    path: '/sandboxes/{id}',
    summary: 'Show a sandbox, with what it has cost so far',
    description: 'With wait the answer comes when it is in that state, or over, or after timeout seconds.',
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
    method: 'DELETE',
    path: '/sandboxes/{id}',
    summary: 'End a sandbox, with all that is in it',
    description: 'It costs nothing from then on. Snapshots of it stay.',
    effect: 'destructive',
    idempotent: true,
    input: z.strictObject(sandbox),
    output: paidAnswer,
    errors: ['sandboxes_unavailable'],
    example: sandboxExample,
  }),
  setSandboxTimeout: operation({
    ...one,
    method: 'POST',
    path: '/sandboxes/{id}/timeout',
    summary: 'Give a sandbox more or less time',
    description: 'timeout counts from now on; idle_timeout from its last use.',
    effect: 'write',
    idempotent: true,
    input: z.strictObject({
      ...sandbox,
      timeout: Timeout.optional().describe('Seconds'),
      idle_timeout: IdleTimeout.optional().describe('Seconds; 0: never'),
    }),
    output: answer,
    errors: ['sandbox_not_running'],
    example: { ...sandboxExample, timeout: 3600 },
  }),
  setSandboxNetwork: operation({
    ...one,
    method: 'PUT',
    path: '/sandboxes/{id}/network',
    summary: 'Say what a sandbox may reach',
    description:
      'Takes the place of what was before, while it runs; connections that stay allowed go on. With names in a list, names are resolved by its own resolver alone, which refuses the others. The host, other machines, private networks and mail are never reached.',
    effect: 'write',
    idempotent: true,
    input: z.strictObject({ ...sandbox, ...NetworkInput.shape }),
    output: answer,
    errors: ['sandbox_not_running', 'network_unavailable', 'sandboxes_unavailable'],
    example: { ...sandboxExample, allow_internet: false, allow_out: ['pypi.org'] },
  }),
  pauseSandbox: operation({
    ...one,
    method: 'POST',
    path: '/sandboxes/{id}/pause',
    summary: 'Pause a sandbox: memory and disk are kept',
    description: 'It costs nothing meanwhile, also when it is ephemeral, and is kept for 30 days.',
    effect: 'write',
    idempotent: true,
    input: z.strictObject(sandbox),
    output: paidAnswer,
    errors: ['sandbox_not_running', 'sandbox_unreachable', 'sandboxes_unavailable'],
    example: sandboxExample,
    next: (body) => [{ tool: 'resume_sandbox', why: 'Let it go on', arguments: { sandbox_id: idOf(body) } }],
  }),
  resumeSandbox: operation({
    ...one,
    method: 'POST',
    path: '/sandboxes/{id}/resume',
    rate: 'sandboxes',
    summary: 'Let a paused sandbox go on',
    description: 'Programs go on where they were; its timeout begins anew.',
    effect: 'spend',
    idempotent: true,
    input: z.strictObject({
      ...sandbox,
      timeout: Timeout.optional().describe('Seconds; default: as before'),
    }),
    output: paidAnswer,
    errors: [...start, 'sandbox_not_running', 'sandbox_damaged', 'sandbox_unreachable'],
    example: sandboxExample,
    next: useIt,
  }),
  forkSandbox: operation({
    ...one,
    method: 'POST',
    path: '/sandboxes/{id}/fork',
    rate: 'sandboxes',
    summary: 'Make a second sandbox that goes on from where one is now',
    description: 'With its memory, files and programs, paid like any other; the first stays as it was.',
    effect: 'spend',
    idempotent: false,
    input: z.strictObject({
      ...sandbox,
      timeout: Timeout.optional().describe('Seconds; default: that of the first'),
      metadata: Metadata.optional(),
    }),
    output: paidAnswer,
    errors: [...start, 'sandbox_not_running', 'sandbox_unreachable'],
    example: sandboxExample,
    next: useIt,
  }),
  getSandboxMetrics: operation({
    ...one,
    method: 'GET',
    path: '/sandboxes/{id}/metrics',
    summary: 'Show what a sandbox uses now',
    description: 'As it says itself.',
    effect: 'read',
    idempotent: true,
    input: z.strictObject(sandbox),
    output: z.object({
      cpu_seconds: z.number(),
      vcpus: z.number(),
      memory_used_mb: z.number(),
      memory_total_mb: z.number(),
      disk_used_mb: z.number(),
      disk_total_mb: z.number(),
      processes: z.number().int(),
    }),
    errors: ['sandbox_not_running', 'sandbox_unreachable', 'sandboxes_unavailable'],
    example: sandboxExample,
  }),
  createSandboxSnapshot: operation({
    ...one,
    method: 'POST',
    path: '/sandboxes/{id}/snapshots',
    summary: 'Keep what a sandbox is now as a template',
    description:
      'With its memory, files and programs; the sandbox goes on. Its id is the template of new sandboxes of the same tariff. At most 20 per account.',
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
    description: 'Newest first.',
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
    description: 'Sandboxes that were made from it live on.',
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
