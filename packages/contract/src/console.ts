import { z } from 'zod'
import { Id } from './ids.ts'
import { operation } from './operation.ts'
import { Timestamp } from './wire.ts'

export const consoleTypes = ['serial', 'vnc'] as const

export const console = {
  openConsole: operation({
    method: 'POST',
    path: '/services/{id}/console',
    summary: 'Open a console of a VPS',
    description:
      'Opens the serial console or the screen of a running VPS, for when SSH does not answer. The url is a page for a person; the websocket_url carries the bytes of the serial line, or RFB (VNC), in binary messages. Both hold one secret, which opens one connection within ten minutes.',
    access: 'manage',
    rate: 'console',
    resource: 'service',
    delegable: true,
    effect: 'write',
    idempotent: false,
    input: z.strictObject({ service_id: Id('service'), type: z.enum(consoleTypes).default('serial') }),
    output: z.object({
      type: z.enum(consoleTypes),
      url: z.string(),
      websocket_url: z.string(),
      expires_at: Timestamp.describe('Until then it has to be opened'),
    }),
    errors: ['service_busy', 'unsupported'],
    example: { service_id: 'vps_01kabcdefghjkmnpqrstvwxyz0', type: 'serial' },
  }),
}
