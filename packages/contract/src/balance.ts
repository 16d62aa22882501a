import { z } from 'zod'
import { Id } from './ids.ts'
import { listOperation, operation } from './operation.ts'
import { paging, Timestamp, Usd } from './wire.ts'

/** The fields of an answer to a call that changed the balance, or what it is spent on. */
export const balanceFields = {
  balance: Usd.describe('Can be spent now'),
  burn_per_hour: Usd.describe(
    'Average cost of an hour of services that renew themselves and of running sandboxes',
  ),
  runs_out_at: Timestamp.nullable().describe('When the balance will not cover them'),
}

export const Balance = z.object({
  ...balanceFields,
  held: Usd.describe('Reserved for orders in progress and running sandboxes; not part of balance'),
  total: Usd.describe('balance + held'),
  owed: Usd.describe('Debt that a reversed payment left; arriving money pays it first'),
  currency: z.literal('USD'),
})

const Transaction = z.object({
  id: Id('transaction'),
  kind: z.string().describe('usage: what a sandbox cost on one day (UTC), so far on the present one'),
  description: z.string(),
  amount: Usd.describe('Change of the spendable balance'),
  held_change: Usd,
  balance: Usd.describe('Spendable balance after it and all lines before it'),
  reference: z
    .string()
    .nullable()
    .describe('The order, service, sandbox or on-chain payment that it was for'),
  created_at: Timestamp,
})

export const balance = {
  getBalance: operation({
    method: 'GET',
    path: '/balance',
    everyday: true,
    summary: 'Show the balance',
    description: 'Shows the balance in USD that can be spent, what is held beside it, and how long it lasts.',
    access: 'read',
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({}),
    output: Balance,
    errors: [],
    example: {},
    next: () => [
      { tool: 'topup_balance', why: 'Add money', arguments: { amount: 10 } },
      { tool: 'order_vps', why: 'Order a plan from list_plans' },
    ],
  }),
  listTransactions: listOperation({
    method: 'GET',
    path: '/balance/transactions',
    summary: 'List balance transactions',
    description:
      'Lists every change of the balance, newest first, with the running balance. A sandbox has one line for each day on which it ran, at the place where that day began for it.',
    access: 'read',
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ ...paging }),
    output: Transaction,
    errors: [],
    example: {},
  }),
  getStatement: operation({
    method: 'GET',
    path: '/balance/statement',
    summary: 'Get a statement as CSV',
    description:
      'Returns the changes of the balance in a period as CSV, oldest first, with the running balance; a sandbox has a line for each day. The columns: time, id, kind, description, amount, held_change, balance, reference. By REST with Accept: text/csv the answer is the file itself.',
    access: 'read',
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({
      from: z.iso.datetime({ offset: true }).optional().describe('Default: the start of the month of to'),
      to: z.iso.datetime({ offset: true }).optional().describe('Not included; default: now'),
      cursor: paging.cursor,
    }),
    output: z.object({
      from: Timestamp,
      to: Timestamp,
      currency: z.literal('USD'),
      opening_balance: Usd,
      closing_balance: Usd,
      lines: z.number().int(),
      csv: z.string(),
      next_cursor: z.string().nullable().describe('Cursor of the rest, when there are more than 5000 lines'),
    }),
    errors: [],
    example: { from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z' },
  }),
}
