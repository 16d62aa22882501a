import { z } from 'zod'
import { balanceFields } from './balance.ts'
import { approvalErrors } from './common-errors.ts'
import {
  AbsolutePath,
  cut,
  Environment,
  ended,
  FILE_BODY_BYTES,
  FileRead,
  FileWritten,
  fileContent,
  filePart,
  IN_FILE_BYTES,
  isInFileBytes,
  isOneContent,
  maxOutput,
  NoNul,
  ONE_CONTENT,
  readCutOn,
  readFileOn,
} from './guest-shapes.ts'
import { operation } from './operation.ts'
import { Confirm, Hostname, ServiceId, UserData, Vps } from './vps.ts'
import { Timestamp, Usd } from './wire.ts'
import { awaitWork, Work } from './work.ts'

const service = { service_id: ServiceId }
const serviceExample = { service_id: 'vps_01kabcdefghjkmnpqrstvwxyz0' }

const UpgradeOption = z.object({
  target_plan: z.string().describe('Send it to change_plan'),
  name: z.string(),
  vcpus: z.number(),
  memory_mb: z.number().int(),
  disk_gb: z.number().int(),
  price: Usd.describe('Per month, from the next period on'),
  price_hourly: Usd,
  charge_now: Usd.describe('The difference for the rest of the paid period'),
  available: z.boolean().describe('There is room for it now'),
})

export const control = {
  setHostname: operation({
    method: 'POST',
    path: '/services/{id}/hostname',
    summary: 'Set the host name of a VPS',
    description:
      'Sets the host name of a VPS, at once and for every boot (/etc/hostname and /etc/hosts). While it is off or its guest agent does not answer, the operation goes on.',
    access: 'manage',
    rate: 'default',
    resource: 'service',
    delegable: true,
    effect: 'write',
    idempotent: true,
    input: z.strictObject({ ...service, hostname: Hostname }),
    output: z.object({ service: Vps, operation: Work }),
    errors: ['service_busy', 'unsupported'],
    example: { ...serviceExample, hostname: 'web.my-domain.net' },
    next: awaitWork,
  }),
  resetPassword: operation({
    method: 'POST',
    path: '/services/{id}/reset-password',
    summary: 'Reset the root password of a VPS',
    description:
      'Sets a new root password in a VPS at once. When the VPS is off or its guest agent does not answer, it is set at the next boot by power_vps (start, or reboot). Once the operation has succeeded, get_vps_status shows the password, exactly once.',
    access: 'manage',
    rate: 'passwordResets',
    resource: 'service',
    effect: 'write',
    idempotent: false,
    input: z.strictObject({ ...service, confirm: Confirm.optional() }),
    output: z.object({ service: Vps, operation: Work }),
    errors: ['service_busy', 'confirmation_required'],
    example: { ...serviceExample, confirm: true },
    next: awaitWork,
  }),
  reinstallVps: operation({
    method: 'POST',
    path: '/services/{id}/reinstall',
    summary: 'Reinstall a VPS',
    description:
      'Wipes the disk of a VPS and installs the system of os_id. It needs confirm. Identifier, address and SSH port stay, and the SSH host key unless new_host_key is true; there is a new one-time root password. With the feature retained_disks the old disk is a snapshot for 24 hours.',
    access: 'manage',
    rate: 'reinstalls',
    resource: 'service',
    delegable: true,
    effect: 'destructive',
    idempotent: false,
    input: z.strictObject({
      ...service,
      os_id: z.number().int().describe('From os_images of the plan'),
      confirm: Confirm.optional(),
      ssh_key: z.string().max(16_384).optional().describe('For root. Default: the same as now'),
      new_host_key: z.boolean().default(false),
      user_data: UserData.optional(),
    }),
    output: z.object({ service: Vps, operation: Work }),
    errors: [
      'service_busy',
      'confirmation_required',
      'os_not_supported',
      'invalid_ssh_key',
      'invalid_user_data',
      'capacity',
    ],
    example: { ...serviceExample, os_id: 2, confirm: 'DELETE' },
    next: awaitWork,
  }),
  rescueVps: operation({
    method: 'POST',
    path: '/services/{id}/rescue',
    summary: 'Boot or leave the rescue system of a VPS',
    description:
      'Boots the rescue system of a VPS with enabled true, and its own disk again with enabled false. It is small and fresh, at the same address, with the same SSH key and host key, and the root password that was shown last. The disk of the VPS is /dev/vdb: mount /dev/vdb1 and repair it, by SSH or run_on_vps. What is written elsewhere is lost. Power works meanwhile; snapshots, hostname and password do not.',
    access: 'manage',
    rate: 'default',
    resource: 'service',
    effect: 'write',
    idempotent: true,
    input: z.strictObject({ ...service, enabled: z.boolean() }),
    output: z.object({ service: Vps, operation: Work }),
    errors: ['service_busy', 'unsupported'],
    example: { ...serviceExample, enabled: true },
    next: awaitWork,
  }),
  getUpgradeOptions: operation({
    method: 'GET',
    path: '/services/{id}/upgrade-options',
    summary: 'List larger plans for a VPS',
    description:
      'Lists the plans that a VPS can grow to, with what change_plan would charge for the rest of the paid period. A VPS does not shrink.',
    access: 'read',
    rate: 'default',
    resource: 'service',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ ...service }),
    output: z.object({
      current_plan: z.string(),
      paid_until: Timestamp.nullable(),
      options: z.array(UpgradeOption),
    }),
    errors: [],
    example: { ...serviceExample },
    next: (answer, { service_id }) => {
      const [option] = (answer.options ?? []) as { target_plan: string }[]
      return option
        ? [
            {
              tool: 'change_plan',
              why: 'Grow to one of the options: add confirm',
              arguments: { service_id, target_plan: option.target_plan },
            },
          ]
        : []
    },
  }),
  changePlan: operation({
    method: 'POST',
    path: '/services/{id}/change-plan',
    summary: 'Grow a VPS to a larger plan',
    description:
      'Grows a VPS to a larger plan: charges the difference for the rest of the paid period from the balance, and boots the VPS once with more processors, memory and disk. Its file system grows by itself. It needs confirm.',
    access: 'order',
    rate: 'orders',
    resource: 'service',
    effect: 'spend',
    idempotent: false,
    input: z.strictObject({
      ...service,
      target_plan: z.string().max(64).describe('From get_upgrade_options'),
      confirm: Confirm.optional(),
    }),
    output: z.object({ service: Vps, operation: Work, charged: Usd, ...balanceFields }),
    errors: [
      'unknown_product',
      'plan_not_larger',
      'confirmation_required',
      'service_busy',
      'budget_exceeded',
      ...approvalErrors,
      'insufficient_balance',
      'account_owes',
      'capacity',
    ],
    example: { ...serviceExample, target_plan: 'small', confirm: true },
    next: awaitWork,
  }),
  runOnVps: operation({
    method: 'POST',
    path: '/services/{id}/exec',
    everyday: true,
    summary: 'Run a command on a VPS',
    description:
      'Runs a shell command as root on a VPS through its guest agent, without SSH, and answers when it has ended. After timeout seconds the command is ended and timed_out is true. A program that shall go on needs its own session: setsid PROGRAM >/dev/null 2>&1 </dev/null &.',
    access: 'manage',
    rate: 'default',
    resource: 'service',
    onMachine: true,
    effect: 'destructive',
    idempotent: false,
    input: z.strictObject({
      ...service,
      command: NoNul.min(1).max(65_536),
      cwd: AbsolutePath.optional().describe('Default: /root'),
      env: Environment.optional(),
      input: NoNul.max(262_144).optional().describe('Standard input'),
      timeout: z.number().positive().max(50).default(30).describe('Seconds'),
      ...maxOutput,
    }),
    shows: 'output',
    output: z.object({ ...ended, ...cut }),
    errors: ['service_busy', 'unsupported', 'guest_unreachable'],
    example: { ...serviceExample, command: 'uname -a', timeout: 20 },
    next: (answer, { service_id }) => readCutOn('read_vps_file', answer, { service_id }),
  }),
  readVpsFile: operation({
    method: 'GET',
    path: '/services/{id}/files',
    tools: ['download_file'],
    summary: 'Read a file of a VPS',
    description:
      'Reads up to 5 MB of a regular file of a VPS from offset on. UTF-8 text comes as content, and anything else as content_base64. While eof is false there is more: go on with offset + length.',
    access: 'manage',
    rate: 'default',
    resource: 'service',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ ...service, path: AbsolutePath, ...filePart }),
    shows: 'output',
    output: FileRead,
    errors: ['service_busy', 'unsupported', 'guest_unreachable', 'file_not_found', 'file_refused'],
    example: { ...serviceExample, path: '/etc/hostname' },
    next: (answer, { service_id }) => readFileOn('read_vps_file', answer, { service_id }),
  }),
  writeVpsFile: operation({
    method: 'PUT',
    path: '/services/{id}/files',
    tools: ['upload_file'],
    summary: 'Write a file of a VPS',
    description:
      'Writes content or content_base64 to a file of a VPS, at most 5 MB (as a tool 700 kB). Without offset the file is replaced as a whole, at once; with offset the bytes are written there, so that a larger file can be sent in pieces. The folder has to exist.',
    access: 'manage',
    rate: 'default',
    resource: 'service',
    onMachine: true,
    query: ['path'],
    bodyBytes: FILE_BODY_BYTES,
    anyText: ['content'],
    effect: 'destructive',
    idempotent: true,
    input: z
      .strictObject({
        ...service,
        path: AbsolutePath,
        ...fileContent,
        offset: z.number().int().min(0).optional(),
      })
      .refine(isOneContent, ONE_CONTENT)
      .refine(isInFileBytes, IN_FILE_BYTES),
    output: FileWritten,
    errors: ['service_busy', 'unsupported', 'guest_unreachable', 'file_not_found', 'file_refused'],
    example: { ...serviceExample, path: '/root/hello.txt', content: 'Hello\n' },
  }),
}
