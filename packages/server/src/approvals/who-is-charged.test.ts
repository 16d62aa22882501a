import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type OperationName, operationList, operations } from '@coinrack/contract/index.ts'
import type { Operation } from '@coinrack/contract/operation.ts'
import { expect, test } from 'vitest'

/*
 * Each operation that can charge a token, and how the limits above which a person has to approve apply to it. The same table,
 * with reasons, is docs/decisions/0315-a-persons-yes.md. An operation that is missing here fails the first test.
 */

type Rule =
  /** What it charges is above a limit: refused until a person approves this call. */
  | 'asks'
  /** It charges a wallet without a token, or an account's owner alone, who has no limit. */
  | 'no token with a limit'
  /** It brings money, or lets it come. */
  | 'charges nothing'

const RULES: Partial<Record<OperationName, Rule>> = {
  orderVps: 'asks',
  renewService: 'asks',
  changePlan: 'asks',
  payInvoice: 'asks',
  restoreSnapshot: 'asks',
  createSandbox: 'asks',
  resumeSandbox: 'asks',
  forkSandbox: 'asks',
  setSandboxTimeout: 'asks',
  runProgram: 'asks',
  createSandboxTemplate: 'asks',
  buildSandboxTemplate: 'asks',
  buyVps: 'no token with a limit',
  buySandbox: 'no token with a limit',
  requestRefund: 'no token with a limit',
  topupBalance: 'charges nothing',
  setAutoRenew: 'charges nothing',
}

/** The files that move money of a customer or count it for a token, with what it is for. */
const CHARGES: Record<string, string> = {
  'ledger/hold.ts': 'placeHold: spendBudget',
  'payments/credit-deposit.ts': 'money that came',
  'payments/reverse-deposit.ts': 'money that its chain took back',
  'payments/refunds/request-refund.ts': 'the owner, whose mailbox was proven',
  'balance/collect-debts.ts': 'a debt of the account',
  'operator/credit.ts': 'the operator',
  'sandboxes/life/hold-first-minute.ts': 'takeApproval of the cost until the timeout',
  'sandboxes/meter/settle-accounts.ts': 'counted, and ended at the limit of the day',
  'vps/orders/start-order.ts': 'placeHold',
  'vps/billing/charge-periods.ts': 'spendBudget',
  'vps/control/cancel-service.ts': 'money back',
  'vps/control/change-plan.ts': 'spendBudget',
  'vps/machine/reactivate.ts': 'spendBudget',
  'vps/machine/replace-disk.ts': 'money back',
  'vps/move/lose-vps.ts': 'money back',
}

const all = operationList as [OperationName, Operation][]
const mayBeRefused = ({ errors }: Operation) =>
  errors.some((code) => code === 'budget_exceeded' || code === 'approval_needed')

test('default: every operation that spends, or that a budget or a limit can refuse, has a row', () => {
  const isAboutTokens = (name: OperationName) => operations[name].path.startsWith('/tokens')
  const charging = all
    .filter(([name, op]) => (op.effect === 'spend' || mayBeRefused(op)) && !isAboutTokens(name))
    .map(([name]) => name)
  expect(charging.filter((name) => !(name in RULES))).toEqual([])
})

test('behavior: what asks declares it, and nothing else does', () => {
  const asking = all.filter(([, op]) => op.errors.includes('approval_needed')).map(([name]) => name)
  expect(asking.sort()).toEqual(
    Object.keys(RULES)
      .filter((name) => RULES[name as OperationName] === 'asks')
      .sort(),
  )
  expect(
    all
      .filter(([, op]) => op.errors.includes('approval_limit'))
      .map(([name]) => name)
      .sort(),
  ).toEqual(asking)
})

test('behavior: tokens that could have a limit cannot call what has no limit', () => {
  for (const [name, rule] of Object.entries(RULES) as [OperationName, Rule][]) {
    const op: Operation = operations[name]
    if (rule !== 'no token with a limit') continue
    // A wallet gets an account of its own; the owner's operation is closed to grants and, by its handler, to child tokens.
    expect(op.x402 === 'always' || op.closedTo?.includes('grant'), name).toBe(true)
  }
})

test('behavior: money of customers moves in no other place than these', () => {
  const root = join(import.meta.dirname, '..')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter(
      (path) => path.endsWith('.ts') && !/test|testing/.test(path) && !path.startsWith('ledger/post.ts'),
    )
  const moving = files.filter((path) =>
    /\b(post|postAll|placeHold)\(\s*(tx|db)\b/.test(readFileSync(join(root, path), 'utf8')),
  )
  expect(moving.filter((path) => !(path in CHARGES))).toEqual([])
})
