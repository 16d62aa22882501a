import { z } from 'zod'
import { Balance } from './balance.ts'
import { operation } from './operation.ts'
import { NextStep } from './wire.ts'

export const guide = {
  getStarted: operation({
    method: 'GET',
    path: '/get-started',
    summary: 'How to use this service, and where you are',
    description:
      'The whole flow from registration to a shell, with example arguments, rules for tokens and errors, limits, and (with a token) your balance, servers and next call.',
    access: 'read',
    openAsTool: true,
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({}),
    output: z.object({
      service: z.string(),
      flow: z.array(NextStep.extend({ step: z.number().int() })),
      authentication: z.string(),
      errors: z.string(),
      limits: z.record(z.string(), z.string()),
      payment: z.string(),
      you_are_here: z.object({
        authenticated: z.boolean(),
        balance: Balance.nullable(),
        live_vps: z.number().int(),
        next: NextStep,
      }),
    }),
    errors: [],
    example: {},
  }),
}
