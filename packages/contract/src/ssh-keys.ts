import { z } from 'zod'
import { exampleSshKey } from './examples.ts'
import { Id } from './ids.ts'
import { listOperation, operation } from './operation.ts'
import { PlainText, paging, Timestamp } from './wire.ts'

export const SshKey = z.object({
  id: Id('ssh_key'),
  name: z.string(),
  type: z.string(),
  fingerprint: z.string().describe('SHA256:..., as ssh-keygen -l shows it'),
  public_key: z.string(),
  created_at: Timestamp,
})

export const sshKeys = {
  listSshKeys: listOperation({
    method: 'GET',
    path: '/ssh-keys',
    summary: 'List stored SSH keys',
    description:
      'Lists the stored SSH keys, newest first. The ssh_key of order_vps and reinstall_vps takes the id of one.',
    access: 'read',
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ ...paging }),
    output: SshKey,
    errors: [],
    example: {},
  }),
  addSshKey: operation({
    method: 'POST',
    path: '/ssh-keys',
    summary: 'Store an SSH key',
    description:
      'Stores an SSH public key: ed25519, ecdsa, rsa of 2048 bits or more, or sk-*. Storing the same key again returns the one that is there.',
    access: 'manage',
    rate: 'default',
    effect: 'write',
    idempotent: true,
    input: z.strictObject({
      public_key: z.string().max(16_384).describe('One line of a .pub file'),
      name: PlainText(100).optional().describe('Without: the comment of the key'),
    }),
    output: z.object({ ssh_key: SshKey }),
    errors: ['invalid_ssh_key', 'ssh_key_limit'],
    example: {
      public_key: exampleSshKey,
      name: 'agent',
    },
    next: (answer) => [
      {
        tool: 'order_vps',
        why: 'Order with it',
        arguments: {
          product: 'nano',
          os_id: 1,
          ssh_key: (answer.ssh_key as { id?: string } | undefined)?.id,
        },
      },
    ],
  }),
  deleteSshKey: operation({
    method: 'DELETE',
    path: '/ssh-keys/{id}',
    summary: 'Delete a stored SSH key',
    description: 'Deletes a stored SSH key. Machines keep the keys that they were made with.',
    access: 'manage',
    rate: 'default',
    resource: 'ssh_key',
    effect: 'destructive',
    idempotent: false,
    input: z.strictObject({ ssh_key_id: Id('ssh_key') }),
    output: z.object({ ssh_key: SshKey }),
    errors: [],
    example: { ssh_key_id: 'key_01kabcdefghjkmnpqrstvwxyz0' },
  }),
}
