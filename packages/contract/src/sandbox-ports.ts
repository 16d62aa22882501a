import { z } from 'zod'
import { listOperation, operation } from './operation.ts'
import { SandboxId, sandboxExample } from './sandboxes.ts'
import { paging, Timestamp } from './wire.ts'

const Port = z.coerce.number().int().min(1).max(65_535)
const one = { access: 'sandbox', rate: 'default', resource: 'sandbox' } as const

export const ExposedPort = z.object({
  port: z.number().int(),
  access: z.enum(['public', 'token']),
  url: z.string(),
  path_url: z.string().describe('The same under the address of this service, for where url has no name'),
  token: z.string().nullable().describe('Send it as X-Preview-Token, or once as ?preview_token='),
  created_at: Timestamp,
  blocked: z.string().nullable().describe('Why the operator took the URL off; null while it can be reached'),
})

export const sandboxPorts = {
  exposePort: operation({
    ...one,
    method: 'POST',
    path: '/sandboxes/{id}/ports/{port}',
    everyday: true,
    summary: 'Expose a port of a sandbox',
    description:
      'Gives a port of a sandbox a URL, for HTTP and WebSocket servers in it. With access public the URL is enough; with access token it takes the token of the answer as well.',
    effect: 'write',
    idempotent: true,
    input: z.strictObject({
      sandbox_id: SandboxId,
      port: Port,
      access: z.enum(['public', 'token']).default('public'),
    }),
    output: ExposedPort,
    errors: ['sandbox_not_running', 'preview_blocked', 'sandbox_limit', 'sandboxes_unavailable'],
    example: { ...sandboxExample, port: 8000 },
  }),
  exposeAllPorts: operation({
    ...one,
    method: 'PUT',
    path: '/sandboxes/{id}/ports',
    summary: 'Expose all ports of a sandbox',
    description:
      'Gives every port of a sandbox a URL, also those that nothing listens on yet, or takes them away again. A port that was exposed by itself keeps what it was given.',
    effect: 'write',
    idempotent: true,
    input: z.strictObject({
      sandbox_id: SandboxId,
      access: z.enum(['public', 'token', 'none']).default('public'),
    }),
    output: z.object({
      access: z.enum(['public', 'token', 'none']),
      url: z.string().nullable().describe('With {port} in the place of the port'),
      path_url: z.string().nullable(),
      token: z.string().nullable().describe('Send it as X-Preview-Token, or once as ?preview_token='),
    }),
    errors: ['sandbox_not_running', 'sandboxes_unavailable'],
    example: { ...sandboxExample, access: 'public' },
  }),
  listExposedPorts: listOperation({
    ...one,
    method: 'GET',
    path: '/sandboxes/{id}/ports',
    summary: 'List the exposed ports of a sandbox',
    description: 'Lists the ports of a sandbox that have a URL, with their URLs and tokens.',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ sandbox_id: SandboxId, ...paging }),
    output: ExposedPort,
    errors: [],
    example: sandboxExample,
  }),
  unexposePort: operation({
    ...one,
    method: 'DELETE',
    path: '/sandboxes/{id}/ports/{port}',
    summary: 'Remove the URL of a port',
    description:
      'Removes the URL of a port of a sandbox and cuts open connections. When it is exposed again, it has another token.',
    effect: 'write',
    idempotent: true,
    input: z.strictObject({ sandbox_id: SandboxId, port: Port }),
    output: z.object({ port: z.number().int() }),
    errors: [],
    example: { ...sandboxExample, port: 8000 },
  }),
}
