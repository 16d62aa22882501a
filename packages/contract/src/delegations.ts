import { z } from 'zod'
import { exampleFriend } from './examples.ts'
import { Id } from './ids.ts'
import { listOperation, operation } from './operation.ts'
import { ServiceId, vpsStatuses } from './vps.ts'
import { paging, Timestamp } from './wire.ts'

export const Delegation = z.object({
  id: Id('delegation'),
  service_id: Id('service'),
  email: z.string(),
  status: z.enum(['invited', 'active', 'expired', 'revoked']),
  expires_at: Timestamp.nullable(),
  created_at: Timestamp,
  accepted_at: Timestamp.nullable(),
})

const Received = z.object({
  id: Id('delegation'),
  service_id: Id('service'),
  hostname: z.string(),
  status: z.enum(vpsStatuses),
  owner_email: z.string().nullable(),
  expires_at: Timestamp.nullable(),
  accepted_at: Timestamp,
})

export const delegations = {
  delegateService: operation({
    closedTo: ['program'],
    method: 'POST',
    path: '/services/{id}/delegations',
    summary: 'Delegate a VPS',
    description:
      'Invites another account by mail to operate a VPS. The invitation is good for 7 days and one account. Its holder may see, power, reinstall and rename the VPS, read metrics and open consoles, but never gets at billing, cancelling, files or the root password.',
    access: 'account',
    rate: 'default',
    resource: 'service',
    effect: 'write',
    idempotent: false,
    input: z.strictObject({
      service_id: ServiceId,
      email: z.email().max(254),
      expires_at: z.iso.datetime({ offset: true }).optional().describe('When the rights end; default: never'),
    }),
    output: z.object({ delegation: Delegation }),
    errors: ['delegation_limit', 'service_busy'],
    example: { service_id: 'vps_01kabcdefghjkmnpqrstvwxyz0', email: exampleFriend },
  }),
  acceptDelegation: operation({
    closedTo: ['program'],
    method: 'POST',
    path: '/delegations/accept',
    summary: 'Accept a delegation',
    description:
      'Accepts an invitation to operate the VPS of another account, with the token of the mail. The token works once.',
    access: 'account',
    rate: 'login',
    effect: 'write',
    idempotent: false,
    input: z.strictObject({ token: z.string().min(1).max(200) }),
    output: z.object({ delegation_id: Id('delegation'), service_id: Id('service') }),
    errors: ['invalid_invitation'],
    example: { token: 'from-the-mail' },
    next: (answer) => [
      { tool: 'get_vps_status', why: 'See the VPS', arguments: { service_id: answer.service_id } },
    ],
  }),
  listDelegations: listOperation({
    method: 'GET',
    path: '/delegations',
    summary: 'List delegations of your VPS',
    description: 'Lists whom you let operate your VPS, newest first, ended delegations included.',
    access: 'read',
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ ...paging }),
    output: Delegation,
    errors: [],
    example: {},
  }),
  listDelegatedToMe: listOperation({
    method: 'GET',
    path: '/delegations/received',
    summary: 'List VPS delegated to you',
    description: 'Lists the VPS of others that you may operate, newest first.',
    access: 'read',
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ ...paging }),
    output: Received,
    errors: [],
    example: {},
  }),
  revokeDelegation: operation({
    method: 'DELETE',
    path: '/delegations/{id}',
    summary: 'Revoke a delegation',
    description:
      'Takes back the right to operate a VPS at once, open consoles included. The account that it was given to can give it back too.',
    access: 'account',
    rate: 'default',
    resource: 'delegation',
    delegable: true,
    effect: 'write',
    idempotent: true,
    input: z.strictObject({ delegation_id: Id('delegation') }),
    output: z.object({ delegation_id: Id('delegation'), revoked: z.literal(true) }),
    errors: [],
    example: { delegation_id: 'dlg_01kabcdefghjkmnpqrstvwxyz0' },
  }),
}
