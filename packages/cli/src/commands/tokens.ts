import { type Client, formatUsd } from '@coinrack/sdk/index.ts'
import type { Command } from 'commander'
import type { AddCommands } from '../add-command.ts'
import { all } from '../collect.ts'
import { exitCodes, RefusedError } from '../exit-codes.ts'
import { number } from '../number-option.ts'
import { table } from '../table.ts'

type Token = Awaited<ReturnType<Client['listTokens']>>['items'][number]
type NewToken = NonNullable<Parameters<Client['createToken']>[0]>
type BudgetInput = NonNullable<NewToken['budget']>

interface BudgetOptions {
  perCharge?: string
  perDay?: string
  total?: string
  maxVps?: number
  maxSandboxes?: number
  autoRenew?: boolean
  approveAbove?: string
}

export const tokens: AddCommands = (program, act) => {
  const group = program.command('token').description('tokens for other programs, with budgets')
  group
    .command('list')
    .description('list the tokens, their budgets and what they have spent')
    .option('--ended', 'also those that are revoked or over')
    .action(
      act(async (call, { ended = false }: { ended?: boolean }) => {
        const found = await all((await call.client()).listTokens.all({ ended }))
        call.show(found, () =>
          table(
            ['ID', 'NAME', 'STATUS', 'SCOPES', 'SPENT', 'BUDGET', 'EXPIRES'],
            found.map((token) => [
              token.id,
              token.name,
              token.status,
              token.scopes.join(','),
              token.spent.total,
              budgetText(token.budget),
              token.expires_at,
            ]),
          ),
        )
      }),
    )
  withBudget(
    group
      .command('create')
      .description('create a token with at most the rights of this login; it is shown once')
      .argument('[name]')
      .option('--scope <scopes>', 'of read, order, manage, sandbox, billing, account; with commas')
      .option('--days <days>', 'how long it is good', number),
  ).action(
    act(
      async (call, name: string | undefined, options: BudgetOptions & { scope?: string; days?: number }) => {
        const budget = budgetOf(options)
        const { token, details } = await (await call.client()).createToken({
          ...(name !== undefined && { name }),
          ...(options.scope !== undefined && { scopes: options.scope.split(',') as NewToken['scopes'] }),
          ...(options.days !== undefined && { expires_in_days: options.days }),
          ...(budget && { budget }),
        })
        call.say(
          `${details.id}, ${details.scopes.join(', ')}, ${budgetText(details.budget)}. It is not shown again:`,
        )
        call.show({ token, details }, () => token)
      },
    ),
  )
  withBudget(
    group
      .command('budget')
      .description('replace the budget of a token below this login')
      .argument('<id>')
      .option('--none', 'lift it'),
  ).action(
    act(async (call, id: string, options: BudgetOptions & { none?: boolean }) => {
      const budget = budgetOf(options)
      if ((budget === undefined) !== (options.none === true))
        throw new RefusedError('Give the caps of the budget, or --none', exitCodes.usage)
      const { details } = await (await call.client()).updateToken({ token_id: id, budget: budget ?? null })
      call.show(details, () => `${details.id}: ${budgetText(details.budget)}`)
    }),
  )
  group
    .command('revoke')
    .description('revoke a token, and all that were made with it')
    .argument('<id>')
    .action(
      act(async (call, id: string) => {
        const answer = await (await call.client()).revokeToken({ token_id: id })
        call.show(answer, () => `Revoked ${id}`)
      }),
    )
}

const withBudget = (command: Command) =>
  command
    .option('--per-charge <usd>', 'the most that one charge may be')
    .option('--per-day <usd>', 'the most of a day (UTC)')
    .option('--total <usd>', 'the most in all')
    .option('--max-vps <count>', 'the most VPS at a time', number)
    .option('--max-sandboxes <count>', 'the most sandboxes at a time', number)
    .option('--auto-renew', 'what it orders may renew itself')
    .option('--approve-above <usd>', 'you have to approve what one call costs above that')

function budgetOf(options: BudgetOptions): BudgetInput | undefined {
  const { perCharge, perDay, total, maxVps, maxSandboxes, autoRenew, approveAbove } = options
  const caps: BudgetInput = {
    ...(perCharge !== undefined && { max_per_charge: perCharge }),
    ...(perDay !== undefined && { per_day: perDay }),
    ...(total !== undefined && { total }),
    ...(maxVps !== undefined && { max_live_vps: maxVps }),
    ...(maxSandboxes !== undefined && { max_live_sandboxes: maxSandboxes }),
    ...(autoRenew && { allow_auto_renew: true }),
    ...(approveAbove !== undefined && { approve_above: { per_call: approveAbove } }),
  }
  return Object.keys(caps).length === 0 ? undefined : caps
}

function budgetText(budget: Token['budget']): string {
  if (!budget) return 'no budget'
  const caps: [string, bigint | number | null | undefined][] = [
    ['a charge', budget.max_per_charge],
    ['a day', budget.per_day],
    ['in all', budget.total],
    ['VPS', budget.max_live_vps],
    ['sandboxes', budget.max_live_sandboxes],
    ['approved above', budget.approve_above?.per_call],
  ]
  const shown = caps.flatMap(([name, value]) =>
    value === null || value === undefined
      ? []
      : [typeof value === 'bigint' ? `${formatUsd(value)} ${name}` : `${value} ${name}`],
  )
  return shown.length === 0 ? 'no caps' : shown.join(', ')
}
