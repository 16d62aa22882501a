import { formatUsd } from '@coinrack/contract/wire.ts'
import { networkOf, type RefundRow } from '../payments/refunds/refund-store.ts'
import type { Command } from './command.ts'
import { table } from './table.ts'

const MOST_SHOWN = 200

export const refundList: Command = {
  name: 'refund list',
  arguments: '[--all]',
  summary: 'Refunds, the oldest first; without --all those that wait for you',
  takes: 0,
  options: { all: { type: 'boolean' } },
  async run(operator, _args, { all }) {
    const db = await operator.db()
    const { rows } = await db.query<RefundRow & { email: string | null }>(
      `select refund.*, email from refund join account on account.id = account_id
       where $1 or refund.status in ('requested', 'approved') order by refund.id limit $2`,
      [Boolean(all), MOST_SHOWN],
    )
    const shown = rows.map(({ amount, chain_id, cancel_until, created_at, ...row }) => ({
      ...row,
      amount: formatUsd(amount),
      network: networkOf(chain_id),
      approvable_from: cancel_until.toISOString(),
      created_at: created_at.toISOString(),
    }))
    return {
      json: shown.map(({ signature: _secret, hold_id: _hold, ...row }: Record<string, unknown>) => row),
      text: table(
        ['id', 'status', 'amount', 'token', 'network', 'address', 'email', 'approvable_from', 'tx_hash'],
        shown,
      ),
    }
  },
}
