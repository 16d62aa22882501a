import { z } from 'zod'
import { balanceFields } from './balance.ts'
import { Features } from './features.ts'
import { Id } from './ids.ts'
import { listOperation, operation } from './operation.ts'
import { Flag, paging, Timestamp, Usd, WaitSeconds } from './wire.ts'
import { awaitWork, Work } from './work.ts'

export const vpsStatuses = [
  'provisioning',
  'active',
  'stopped',
  'rebooting',
  'reinstalling',
  'resizing',
  'suspended',
  'failed',
  'deleted',
] as const

export const billingCycles = ['monthly', 'hourly'] as const

export const SshAccess = z.object({
  host: z.string(),
  port: z.number().int(),
  user: z.string(),
  command: z.string().describe('Ready to run'),
  known_hosts: z.array(z.string()).describe('Lines for a known_hosts file, so that the host can be verified'),
})

export const VpsBilling = z
  .object({
    cycle: z.enum(billingCycles),
    price: Usd.describe('For a month or an hour, as agreed by the order or a change of plan'),
    paid_until: Timestamp.nullable(),
    auto_renew: z.boolean(),
    cancel_at_period_end: z.boolean(),
    delete_at: Timestamp.nullable().describe('Suspended, it is kept until then'),
  })
  .describe('For the owner only')

export const Vps = z.object({
  id: Id('service'),
  order_id: Id('order'),
  status: z.enum(vpsStatuses),
  ssh_ready: z.boolean().describe('An SSH server answered at the address below'),
  failure_reason: z.string().nullable(),
  hostname: z.string(),
  ip: z.string(),
  ipv6: z.string().nullable().describe('Its own'),
  ssh_user: z.string(),
  ssh_port: z.number().int(),
  ssh: SshAccess,
  rescue: z.boolean().describe('It runs its rescue system, or is about to'),
  password_available: z.boolean().describe('The root password was not shown yet'),
  product: z.string(),
  os: z.object({ os_id: z.number().int(), name: z.string() }),
  region: z.string(),
  features: Features,
  billing: VpsBilling.optional(),
  created_at: Timestamp,
})

const VpsDetail = Vps.extend({
  root_password: z
    .string()
    .optional()
    .describe('Present exactly once: in the first answer after ssh_ready. Keep it'),
  metrics: z
    .object({
      cpu_percent: z.number().nullable(),
      memory_used_mb: z.number().nullable(),
      disk_used_gb: z.number().nullable(),
      rx_bytes: z.number().nullable(),
      tx_bytes: z.number().nullable(),
      uptime_s: z.number().nullable(),
    })
    .describe('Last observation; null where nothing was observed yet'),
})

/** The next steps for a VPS in the state that it is in. */
const leadOn = (answer: Record<string, unknown>) => {
  const { id, status, ssh_ready, ssh, features } = answer as Partial<z.input<typeof Vps>>
  const service = { service_id: id }
  switch (status) {
    case 'stopped':
      return [{ tool: 'power_vps', why: 'Start it', arguments: { ...service, action: 'start' } }]
    case 'suspended':
      return [{ tool: 'renew_service', why: 'Pay its next period: it is started again', arguments: service }]
    case 'failed':
      return [{ tool: 'list_plans', why: 'Its price was given back: order another' }]
    case 'deleted':
      return [{ tool: 'list_snapshots', why: 'See whether its disk is still kept', arguments: service }]
  }
  if (ssh_ready && features?.includes('guest_commands'))
    return [
      {
        tool: 'run_on_vps',
        why: `Log in with: ${ssh?.command}; or run a command from here`,
        arguments: { ...service, command: 'uname -a' },
      },
    ]
  return ssh_ready
    ? [
        {
          tool: 'get_vps_metrics',
          why: `Log in with: ${ssh?.command}; or see what it uses`,
          arguments: service,
        },
      ]
    : [
        {
          tool: 'get_vps_status',
          why: 'Wait here until SSH answers: repeat until ssh_ready is true',
          arguments: { ...service, wait: 'ssh_ready', timeout: 50 },
        },
      ]
}

/** RFC 1123: labels of 1 to 63 letters, digits and inner hyphens. */
export const Hostname = z
  .string()
  .max(253)
  .regex(
    /^(?=.{1,253}$)[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/,
    'Expected a host name (RFC 1123)',
  )
  .toLowerCase()

const USER_DATA_BYTES = 64 * 1024

/** For cloud-init in a new machine. */
export const UserData = z
  .string()
  .max(USER_DATA_BYTES)
  .regex(/^[^\u0000]*$/, 'NUL characters are not allowed')
  .refine((text) => new TextEncoder().encode(text).length <= USER_DATA_BYTES, 'Expected at most 64 KiB')
  .describe(
    'For cloud-init, such as #cloud-config or a #! script (gzip as base64). Runs once; SSH does not wait for it',
  )

/** The same wherever something has to be confirmed. */
export const Confirm = z
  .union([z.boolean(), z.string().max(253)])
  .describe('true, the hostname of the VPS, or DELETE')

export const ServiceId = Id('service')
const service = { service_id: ServiceId }
const serviceExample = { service_id: 'vps_01kabcdefghjkmnpqrstvwxyz0' }

export const vps = {
  listVps: listOperation({
    method: 'GET',
    path: '/services',
    everyday: true,
    summary: 'List your VPS',
    description:
      'Lists the VPS that are live or in transition, newest first. Failed and deleted ones are listed only with the status filter.',
    access: 'read',
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ ...paging, status: z.enum(vpsStatuses).optional() }),
    output: Vps,
    errors: [],
    example: {},
  }),
  getVpsStatus: operation({
    method: 'GET',
    path: '/services/{id}',
    tools: ['reveal_password'],
    everyday: true,
    summary: 'Show a VPS and how to log in',
    description:
      'Shows a VPS with its status, its SSH access and, once, its root password. With wait=ssh_ready the answer comes when SSH answers, or after timeout seconds (at most 50): repeat until ssh_ready is true. The root password is in exactly one answer after that; reveal=false leaves it for later.',
    access: 'read',
    rate: 'default',
    resource: 'service',
    delegable: true,
    // The read that shows the root password spends it.
    effect: 'write',
    idempotent: false,
    input: z.strictObject({
      ...service,
      wait: z.enum(['ssh_ready', 'active', 'stopped', 'deleted']).optional(),
      timeout: WaitSeconds.default(30),
      reveal: Flag.default(true),
    }),
    output: VpsDetail,
    errors: [],
    example: { ...serviceExample, wait: 'ssh_ready', timeout: 50 },
    next: leadOn,
  }),
  powerVps: operation({
    method: 'POST',
    path: '/services/{id}/power',
    everyday: true,
    summary: 'Start, stop or reboot a VPS',
    description:
      'Starts a VPS, stops it or reboots it. The actions stop and reboot ask the guest first and force it after a time-out; force_stop and reset do not ask.',
    access: 'manage',
    rate: 'default',
    resource: 'service',
    delegable: true,
    effect: 'write',
    idempotent: true,
    input: z.strictObject({
      ...service,
      action: z.enum(['start', 'stop', 'reboot', 'force_stop', 'reset']),
    }),
    output: z.object({ service: Vps, operation: Work }),
    errors: ['service_busy'],
    example: { ...serviceExample, action: 'reboot' },
    next: awaitWork,
  }),
  cancelService: operation({
    method: 'POST',
    path: '/services/{id}/cancel',
    everyday: true,
    summary: 'Cancel a VPS',
    description:
      'Cancels a VPS, by default at the end of its paid time. With mode immediate, which needs confirm, it is gone now, the used time is charged at the hourly price and the rest is credited. With retained_disks, restore_snapshot undoes it for 24 hours.',
    access: 'manage',
    rate: 'default',
    resource: 'service',
    effect: 'destructive',
    idempotent: true,
    input: z.strictObject({
      ...service,
      mode: z.enum(['end_of_period', 'immediate']).default('end_of_period'),
      confirm: Confirm.optional(),
    }),
    output: z.object({ service: Vps, operation: Work, credited: Usd, ...balanceFields }),
    errors: ['service_busy', 'confirmation_required'],
    example: { ...serviceExample },
    next: () => [{ tool: 'get_balance', why: 'See what was credited' }],
  }),
}
