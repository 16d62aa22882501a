import { z } from 'zod'
import { Balance } from './balance.ts'
import { operation } from './operation.ts'
import { NextStep, Timestamp } from './wire.ts'

const Flow = z.array(NextStep.extend({ step: z.number().int() }))

export const guide = {
  getStarted: operation({
    method: 'GET',
    path: '/get-started',
    summary: 'How to use this service, and where you are',
    description:
      'Shows the whole flow from registration to a shell or a sandbox, with example arguments, the rules for tokens and errors, and the limits. With a token it also shows your balance, servers, sandboxes and the next call to make.',
    access: 'read',
    openAsTool: true,
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({}),
    output: z.object({
      service: z.string(),
      flow: Flow,
      sandbox_flow: Flow.describe('From a balance on, to run code; empty where no sandboxes run'),
      authentication: z.string(),
      errors: z.string(),
      limits: z.record(z.string(), z.string()),
      payment: z.string(),
      you_are_here: z.object({
        authenticated: z.boolean(),
        balance: Balance.nullable(),
        live_vps: z.number().int(),
        live_sandboxes: z.number().int(),
        next: NextStep,
        notices: z
          .array(z.object({ type: z.string(), at: Timestamp }))
          .describe('For an account without an e-mail address'),
      }),
    }),
    errors: [],
    example: {},
  }),
}
