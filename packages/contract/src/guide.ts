import { z } from 'zod'
import { Balance } from './balance.ts'
import { operation } from './operation.ts'
import { subjectNames } from './subjects.ts'
import { NextStep, paging, Timestamp } from './wire.ts'

const FoundOperation = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string(),
  rest: z.string().describe('Method and path'),
  effect: z.enum(['read', 'write', 'spend', 'destructive']),
  input_schema: z.record(z.string(), z.unknown()).optional(),
})
export type FoundOperation = z.output<typeof FoundOperation>

const Flow = z.array(NextStep.extend({ step: z.number().int() }))

export const guide = {
  getStarted: operation({
    method: 'GET',
    path: '/get-started',
    everyday: true,
    summary: 'How to begin, and where you are',
    description:
      'Shows the whole flow from registration to a shell or a sandbox, with rules and limits. With a token it also shows your balance, what you run and the next call.',
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
      tools: z.string(),
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
  findOperations: operation({
    method: 'GET',
    path: '/catalog/operations',
    everyday: true,
    summary: 'Find operations',
    description:
      'Finds all operations of this service, also those in no list of yours, by words or subject, the best first. Format schema adds what each takes, for call_operation; typescript declares them as methods of a global coinrack.',
    access: 'any',
    openAsTool: true,
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({
      query: z.string().max(200).optional().describe('Such as: snapshot of a vps'),
      subject: z.enum(subjectNames).optional(),
      format: z.enum(['list', 'schema', 'typescript']).default('list'),
      limit: paging.limit.unwrap().optional(),
      cursor: paging.cursor,
    }),
    output: z.object({
      operations: z.array(FoundOperation),
      declaration: z.string().optional().describe('TypeScript; the parts together are one file'),
      total: z.number().int().describe('How many were found'),
      next_cursor: z.string().optional().describe('For the next part'),
    }),
    errors: [],
    example: { query: 'snapshot of a vps', format: 'schema' },
    next({ total, next_cursor }, input) {
      if (total === 0)
        return [{ tool: 'find_operations', why: 'Nothing was found: see all there is', arguments: {} }]
      const why = 'Read on: what was found goes on there'
      return next_cursor === undefined
        ? []
        : [{ tool: 'find_operations', why, arguments: { ...input, cursor: next_cursor } }]
    },
  }),

  callOperation: operation({
    method: 'POST',
    path: '/catalog/operations/{name}',
    everyday: true,
    summary: 'Call any operation by its name',
    description:
      'Calls any operation by its name from find_operations and answers exactly what it answers. Its rights, limits, price and confirmations hold.',
    access: 'any',
    rate: 'default',
    effect: 'destructive',
    idempotent: false,
    input: z.strictObject({
      name: z.string().max(100),
      arguments: z.record(z.string(), z.unknown()).default({}),
    }),
    output: z.looseObject({}),
    errors: ['unknown_operation'],
    example: { name: 'get_balance', arguments: {} },
  }),
}
