import { z } from 'zod'
import { Id } from './ids.ts'
import { listOperation, operation, type Scope } from './operation.ts'
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
    allow_auto_renew: z.boolean().default(false).describe('What it orders may renew itself'),
  })
  .describe('USD and counts, for the token and all below it; what is left out has no cap')

export const Budget = z.object({
  max_per_charge: Usd.nullable(),
  per_day: Usd.nullable(),
  total: Usd.nullable(),
  max_live_vps: z.number().int().nullable(),
  max_live_sandboxes: z.number().int().nullable(),
  allow_auto_renew: z.boolean(),
})

export const Token = z.object({
  id: Id('token'),
  name: z.string().nullable(),
  parent_id: Id('token').nullable().describe('Null: of a login; it may do everything'),
  status: z.enum(['active', 'expired', 'revoked']),
  unconfirmed: z.boolean().describe('From before the mailbox was proven: limited until confirm_token'),
  scopes: Scopes,
  budget: Budget.nullable(),
  spent: z.object({ today: Usd, total: Usd }).describe('By it and all below it'),
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
    summary: 'List tokens, with budgets and what each has spent',
    description:
      'Newest first: with a token of a login all tokens of the account, with a child token itself and those below it. ended=true shows revoked and expired ones too.',
    access: 'account',
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
    summary: 'Make a child token with fewer rights and a budget',
    description:
      'For another agent or program: never more than this token. Without scopes or expires_in_days it has those of this one. Revoked with this one. Over its budget a charge answers 403 budget_exceeded.',
    access: 'account',
    rate: 'default',
    effect: 'write',
    idempotent: false,
    input: z.strictObject({
      name: Name.optional(),
      scopes: Scopes.min(1).optional(),
      expires_in_days: z.number().int().min(1).max(365).optional(),
      budget: BudgetInput.optional(),
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
    method: 'PATCH',
    path: '/tokens/{id}',
    summary: 'Rename a token below this one, or change its budget',
    description:
      'budget takes the place of the one it has; null removes it. A token cannot change its own budget: one above it can.',
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
    method: 'POST',
    path: '/tokens/{id}/confirm',
    summary: 'Confirm a token from before the mailbox was proven',
    description:
      'For the owner who logged in by a code to an account that an agent had registered: the token gets its full rights and its budget is lifted. Revoke with revoke_token what you do not know.',
    effect: 'write',
    input: z.strictObject({ token_id: Id('token') }),
    output,
    errors: ['token_not_below'],
    example,
  }),
  revokeToken: operation({
    ...change,
    method: 'DELETE',
    path: '/tokens/{id}',
    summary: 'Revoke a token and all below it, at once',
    description: 'It can be this token itself, one below it or, for a token of a login, any of the account.',
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
      'The same token with the same rights, budget and children under a new text; the old text works 10 more minutes. A token of a login lasts another year, a child token as long as before.',
    access: 'any',
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
    summary: 'End this token and all below it',
    description: 'Revokes the token of this call, at once, with its children.',
    access: 'any',
    rate: 'default',
    effect: 'destructive',
    idempotent: true,
    input: z.strictObject({}),
    output: z.object({ revoked: z.array(Id('token')) }),
    errors: [],
    example: {},
  }),
}
