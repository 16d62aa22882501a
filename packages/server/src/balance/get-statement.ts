import { formatUsd } from '@coinrack/contract/wire.ts'
import type { Handler } from '../dispatch/handler.ts'
import { csvOf } from './csv.ts'
import { balanceBefore, describeLine, type LineRow, linesOf } from './statement-store.ts'

const MOST_LINES = 5_000

export const getStatement: Handler<'getStatement'> = async ({ input, caller, db, services, fail }) => {
  const to = input.to === undefined ? services.clock.now() : new Date(input.to)
  const from =
    input.from === undefined
      ? new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth()))
      : new Date(input.from)
  if (from > to) {
    const message = 'Expected a moment before to'
    throw fail('invalid_input', `from: ${message}`, { fields: { details: [{ path: 'from', message }] } })
  }
  const rows = await linesOf(db, caller.accountId, {
    order: 'oldest first',
    from,
    to,
    after: input.cursor,
    limit: MOST_LINES + 1,
  })
  const lines = rows.slice(0, MOST_LINES)
  const [first, last] = [lines[0], lines.at(-1)]
  const opening = first ? first.balance - first.amount : await balanceBefore(db, caller.accountId, from)
  return {
    from,
    to,
    currency: 'USD',
    opening_balance: opening,
    closing_balance: last?.balance ?? opening,
    lines: lines.length,
    csv: csvOf(COLUMNS, lines.map(cellsOf)),
    next_cursor: rows.length > MOST_LINES ? last!.id : null,
  }
}

const COLUMNS = ['time', 'id', 'kind', 'description', 'amount', 'held_change', 'balance', 'reference']

const cellsOf = (row: LineRow) => [
  row.created_at.toISOString(),
  row.id,
  row.kind,
  { text: describeLine(row) },
  formatUsd(row.amount),
  formatUsd(row.held_change),
  formatUsd(row.balance),
  { text: row.reference ?? '' },
]
