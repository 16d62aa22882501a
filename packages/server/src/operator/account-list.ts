import { formatUsd } from '@coinrack/contract/wire.ts'
import type { Command } from './command.ts'
import { table } from './table.ts'

const MOST_SHOWN = 200

interface Row {
  id: string
  email: string | null
  available: bigint
  held: bigint
  live_vps: number
  suspended_at: Date | null
  created_at: Date
}

/** Newest first. */
const ACCOUNTS = `
select a.id, a.email, b.available, b.held, a.suspended_at, a.created_at,
  (select count(*)::int from vps where vps.account_id = a.id and status not in ('failed', 'deleted')) as live_vps
from account a join customer_balance b on b.account_id = a.id
where $1::text is null or strpos(a.email, lower($1)) > 0
  or exists (select from wallet where wallet.account_id = a.id and address = lower($1))
order by a.id desc limit $2`

export const accountList: Command = {
  name: 'account list',
  arguments: '[--search <text>]',
  summary: `Accounts, newest first, at most ${MOST_SHOWN}; --search looks in the e-mail address`,
  takes: 0,
  options: { search: { type: 'string' } },
  async run(operator, _args, { search }) {
    const db = await operator.db()
    const { rows } = await db.query<Row>(ACCOUNTS, [search ?? null, MOST_SHOWN])
    const accounts = rows.map(({ available, held, suspended_at, created_at, ...row }) => ({
      ...row,
      balance: formatUsd(available),
      held: formatUsd(held),
      suspended: suspended_at !== null,
      created_at: created_at.toISOString(),
    }))
    return {
      json: accounts,
      text: table(['id', 'email', 'balance', 'held', 'live_vps', 'suspended', 'created_at'], accounts),
    }
  },
}
