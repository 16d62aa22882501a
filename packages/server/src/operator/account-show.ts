import { formatUsd } from '@coinrack/contract/wire.ts'
import type { Queryable } from '../database/transaction.ts'
import { readBalance } from '../ledger/balance.ts'
import type { Command } from './command.ts'
import { findAccount } from './find-account.ts'
import { table } from './table.ts'

const TRANSACTIONS_SHOWN = 10

export const accountShow: Command = {
  name: 'account show',
  arguments: '<email|id>',
  summary: 'One account: its balance, its VPS and its last transactions',
  takes: 1,
  async run(operator, [who]) {
    const db = await operator.db()
    const account = await findAccount(db, who!)
    const { available, held, owed } = await readBalance(db, account.id)
    const services = await vpsOf(db, account.id)
    const transactions = await lastTransactions(db, account.id)
    const json = {
      id: account.id,
      email: account.email,
      created_at: account.created_at.toISOString(),
      suspended_at: account.suspended_at?.toISOString() ?? null,
      balance: formatUsd(available),
      held: formatUsd(held),
      owed: formatUsd(owed),
      services,
      transactions,
    }
    const text = [
      `${json.email ?? 'no e-mail'}  ${json.id}  since ${json.created_at}`,
      json.suspended_at ? `Suspended since ${json.suspended_at}` : 'Active',
      `Balance ${json.balance} USD, held ${json.held}, owed ${json.owed}`,
      `\nVPS\n${table(['id', 'status', 'hostname', 'product', 'ssh', 'paid_until'], services)}`,
      `\nLast transactions\n${table(['created_at', 'kind', 'amount', 'balance', 'description'], transactions)}`,
    ]
    return { json, text: text.join('\n') }
  },
}

/** Deleted and failed ones left out, newest first. */
async function vpsOf(db: Queryable, accountId: string) {
  const { rows } = await db.query<{
    id: string
    status: string
    hostname: string
    product: string
    ssh_host: string
    ssh_port: number
    paid_until: Date | null
  }>(
    `select id, status, hostname, product, ssh_host, ssh_port, paid_until from vps
     where account_id = $1 and status not in ('failed', 'deleted') order by id desc`,
    [accountId],
  )
  return rows.map(({ ssh_host, ssh_port, paid_until, ...row }) => ({
    ...row,
    ssh: `${ssh_host}:${ssh_port}`,
    paid_until: paid_until?.toISOString() ?? null,
  }))
}

async function lastTransactions(db: Queryable, accountId: string) {
  const { rows } = await db.query<{
    id: string
    kind: string
    description: string
    available_change: bigint
    available_after: bigint
    created_at: Date
  }>(
    `select id, kind, description, available_change, available_after, created_at from ledger_transaction
     where account_id = $1 order by position desc limit $2`,
    [accountId, TRANSACTIONS_SHOWN],
  )
  return rows.map(({ available_change, available_after, created_at, ...row }) => ({
    ...row,
    amount: formatUsd(available_change),
    balance: formatUsd(available_after),
    created_at: created_at.toISOString(),
  }))
}
