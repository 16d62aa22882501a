import { type Client, formatUsd } from '@coinrack/sdk/index.ts'
import type { AddCommands } from '../add-command.ts'
import type { Call } from '../call.ts'
import { all } from '../collect.ts'
import { isRefusal } from '../find.ts'
import { number } from '../number-option.ts'
import { type PayOptions, payByTransfer, withPayOptions } from '../pay-by-transfer.ts'
import { facts, table } from '../table.ts'

type Invoice = Awaited<ReturnType<Client['getInvoice']>>

export const money: AddCommands = (program, act) => {
  program
    .command('balance')
    .description('show the balance, and how long it lasts')
    .action(
      act(async (call) => {
        const balance = await (await call.client()).getBalance()
        call.show(balance, () =>
          facts([
            ['balance', `${formatUsd(balance.balance)} USD`],
            ['held', balance.held],
            ['owed', balance.owed],
            ['an hour costs', balance.burn_per_hour],
            ['lasts until', balance.runs_out_at],
          ]),
        )
      }),
    )
  program
    .command('transactions')
    .description('list what changed the balance, newest first')
    .option('--limit <count>', 'how many', number, 20)
    .action(
      act(async (call, { limit }: { limit: number }) => {
        const { items } = await (await call.client()).listTransactions({ limit })
        call.show(items, () =>
          table(
            ['TIME', 'AMOUNT', 'BALANCE', 'WHAT'],
            items.map((line) => [line.created_at, line.amount, line.balance, line.description]),
          ),
        )
      }),
    )
  withPayOptions(
    program
      .command('topup')
      .description('top up the balance: shows where to send tokens, and waits until they are credited')
      .argument('<usd>', 'at least 3'),
  ).action(
    act(async (call, amount: string, options: PayOptions) => {
      const client = await call.client()
      return payByTransfer(call, client, await topUpInvoice(call, client, amount), options)
    }),
  )
  withPayOptions(
    program
      .command('pay')
      .description('pay an invoice: shows where to send tokens, and waits until they are credited')
      .argument('<invoice>', 'inv_...'),
  ).action(
    act(async (call, id: string, options: PayOptions) => {
      const client = await call.client()
      return payByTransfer(call, client, await client.getInvoice({ invoice_id: id }), options)
    }),
  )
  const group = program.command('invoice').description('invoices')
  group
    .command('list')
    .description('list the invoices, newest first')
    .action(
      act(async (call) => {
        const found = await all((await call.client()).listInvoices.all())
        call.show(found, () =>
          table(
            ['ID', 'KIND', 'STATUS', 'AMOUNT', 'RECEIVED', 'CREATED'],
            found.map((one) => [one.id, one.kind, one.status, one.amount, one.received, one.created_at]),
          ),
        )
      }),
    )
  group
    .command('cancel')
    .description('close an invoice on which nothing was paid')
    .argument('<invoice>')
    .action(
      act(async (call, id: string) => {
        const invoice = await (await call.client()).cancelInvoice({ invoice_id: id })
        call.show(invoice, () => `${invoice.id} is ${invoice.status}`)
      }),
    )
}

/** A new invoice, or the open one of the same amount, as after a wait that was broken off. */
async function topUpInvoice(call: Call, client: Client, amount: string): Promise<Invoice> {
  try {
    return (await client.topupBalance({ amount })).invoice
  } catch (error) {
    if (!isRefusal(error, 'topup_pending')) throw error
    const { items } = await client.listInvoices({ limit: 100 })
    const open = items.find(
      (one) =>
        one.kind === 'topup' &&
        (one.status === 'unpaid' || one.status === 'confirming') &&
        Number(formatUsd(one.amount)) === Number(amount),
    )
    if (!open) throw error
    call.say(`Going on with the open invoice ${open.id}`)
    return open
  }
}
