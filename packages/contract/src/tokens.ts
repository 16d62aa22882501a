import { z } from 'zod'
import { Id } from './ids.ts'
import { listOperation, operation, type Scope, tokenKinds } from './operation.ts'
import { Flag, PlainText, paging, Timestamp, Usd, UsdInput } from './wire.ts'

export const scopes = [
  'read',
  'order',
  'manage',
  'sandbox',
  'billing',
  'account',
] as const satisfies readonly Scope[]
const Scopes = z.array(z.enum(scopes))

const Count = z.number().int().min(0).max(1_000_000)

const BudgetInput = z
  .strictObject({
    max_per_charge: UsdInput.optional(),
    per_day: UsdInput.optional().describe('Days are UTC'),
    total: UsdInput.optional(),
    max_live_vps: Count.optional(),
    max_live_sandboxes: Count.optional(),
    allow_auto_renew: z.boolean().default(false).describe('Services that it orders may renew themselves'),
    approve_above: z
      .strictObject({ per_call: UsdInput.optional(), per_day: UsdInput.optional() })
      .optional()
      .describe(
        'A person has to approve what one call costs above per_call, or what a day costs above per_day',
      ),
  })
  .describe('USD and counts, for the token and all below it; what is left out has no cap')

export const Budget = z.object({
  max_per_charge: Usd.nullable(),
  per_day: Usd.nullable(),
  total: Usd.nullable(),
  max_live_vps: z.number().int().nullable(),
  max_live_sandboxes: z.number().int().nullable(),
  allow_auto_renew: z.boolean(),
  approve_above: z.object({ per_call: Usd.nullable(), per_day: Usd.nullable() }).nullable(),
})

export const Token = z.object({
  id: Id('token'),
  name: z.string().nullable(),
  kind: z
    .enum(tokenKinds)
    .describe('plain; grant: an application that was let in by OAuth; program: for one run of a program'),
  parent_id: Id('token').nullable().describe('Null for the token of a login, which may do everything'),
  status: z.enum(['active', 'expired', 'revoked']),
  unconfirmed: z.boolean().describe('From before the mailbox was proven: limited until confirm_token'),
  scopes: Scopes,
  budget: Budget.nullable(),
  spent: z
    .object({ today: Usd, total: Usd, unapproved_today: Usd })
    .describe('By it and all below it; unapproved_today without the approval of a person'),
  created_at: Timestamp,
  expires_at: Timestamp,
})

const secret = {
  token: z.string().describe('Shown once'),
  token_type: z.literal('Bearer'),
  token_expires_at: Timestamp,
}
const Name = PlainText(100)
const example = { token_id: 'tok_01kabcdefghjkmnpqrstvwxyz0' }
const change = { access: 'account', rate: 'default', resource: 'token', idempotent: true } as const
const output = z.object({ details: Token })

export const tokens = {
  listTokens: listOperation({
    method: 'GET',
    path: '/tokens',
    summary: 'List tokens',
    description:
      'Lists tokens with their budgets and what each has spent, newest first. A token from a login sees all tokens of the account; a child token sees itself and those below it. With ended=true revoked and expired ones are included.',
    access: 'account',
    closedTo: ['program'],
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ ...paging, ended: Flag.default(false) }),
    output: Token,
    errors: [],
    example: {},
  }),
  createToken: operation({
    method: 'POST',
    path: '/tokens',
    summary: 'Create a child token',
    description:
      'Creates a token for another agent or program, with at most the rights of this one and a budget if you give one. Without scopes or expires_in_days it has those of this token. It ends when this token is revoked. A charge over its budget answers 403 budget_exceeded; one over approve_above answers 403 approval_needed until the owner of the account approves it on a page.',
    access: 'account',
    closedTo: ['grant', 'program'],
    rate: 'default',
    effect: 'write',
    idempotent: false,
    input: z.strictObject({
      name: Name.optional(),
      scopes: Scopes.min(1).optional(),
      expires_in_days: z.number().int().min(1).max(365).optional(),
      budget: BudgetInput.optional(),
      format: z
        .enum(['coinrack', 'e2b'])
        .default('coinrack')
        .describe(
          "e2b: a text that E2B's packages take as their API key, with the scope sandbox unless you give others",
        ),
    }),
    output: z.object({ ...secret, details: Token }),
    errors: ['budget_exceeded', 'token_limit'],
    example: {
      name: 'build agent',
      scopes: ['read', 'order'],
      expires_in_days: 30,
      budget: { per_day: '5.00', total: '50.00', max_live_vps: 2 },
    },
    next: () => [{ tool: 'list_tokens', why: 'See later what it has spent' }],
  }),
  updateToken: operation({
    ...change,
    closedTo: ['grant', 'program'],
    method: 'PATCH',
    path: '/tokens/{id}',
    summary: 'Change a token below this one',
    description:
      'Renames a token below this one or replaces its budget. A budget of null removes it. A token cannot change its own budget, but one above it can.',
    effect: 'write',
    input: z.strictObject({
      token_id: Id('token'),
      name: Name.nullable().optional(),
      budget: BudgetInput.nullable().optional(),
    }),
    output,
    errors: ['budget_exceeded', 'token_not_below'],
    example: { ...example, budget: { per_day: '10.00' } },
  }),
  confirmToken: operation({
    ...change,
    closedTo: ['grant', 'program'],
    method: 'POST',
    path: '/tokens/{id}/confirm',
    summary: 'Confirm an older token',
    description:
      'Confirms a token from before the mailbox was proven: it gets its full rights and its budget is lifted. This is for an owner who logs in by a code to an account that an agent had registered. Revoke tokens that you do not know with revoke_token.',
    effect: 'write',
    input: z.strictObject({ token_id: Id('token') }),
    output,
    errors: ['token_not_below'],
    example,
  }),
  revokeToken: operation({
    ...change,
    closedTo: ['program'],
    method: 'DELETE',
    path: '/tokens/{id}',
    summary: 'Revoke a token',
    description:
      'Revokes a token and all tokens below it, at once. It can be this token itself, one below it or, for a token from a login, any token of the account.',
    effect: 'destructive',
    input: z.strictObject({ token_id: Id('token') }),
    output: z.object({ revoked: z.array(Id('token')) }),
    errors: ['token_not_below'],
    example,
  }),
  refreshToken: operation({
    method: 'POST',
    path: '/auth/refresh',
    summary: 'Exchange this token for a new text',
    description:
      'Replaces the text of this token, and keeps its rights, budget and children. The old text works for 10 more minutes. A token from a login lasts another year; a child token keeps its end.',
    access: 'any',
    closedTo: ['grant', 'program'],
    rate: 'default',
    effect: 'write',
    idempotent: false,
    input: z.strictObject({}),
    output: z.object({ ...secret, token_id: Id('token'), old_token_expires_at: Timestamp }),
    errors: [],
    example: {},
  }),
  logout: operation({
    method: 'POST',
    path: '/auth/logout',
    summary: 'Log out',
    description: 'Revokes the token of this call and all tokens below it, at once.',
    access: 'any',
    closedTo: ['program'],
    rate: 'default',
    effect: 'destructive',
    idempotent: true,
    input: z.strictObject({}),
    output: z.object({ revoked: z.array(Id('token')) }),
    errors: [],
    example: {},
  }),
}
