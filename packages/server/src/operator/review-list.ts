import type { ReviewRow } from '../catalog/review-store.ts'
import { type Command, RefusedError } from './command.ts'
import { table } from './table.ts'

const STATUSES = ['pending', 'approved', 'rejected']
const MOST_SHOWN = 200
const BODY_SHOWN = 80

export const reviewList: Command = {
  name: 'review list',
  arguments: `[--status ${STATUSES.join('|')}]`,
  summary: 'Reviews, newest first; without --status those that wait for a decision',
  takes: 0,
  options: { status: { type: 'string' } },
  async run(operator, _args, { status = 'pending' }) {
    if (!STATUSES.includes(status)) throw new RefusedError(`--status is one of ${STATUSES.join(', ')}`)
    const db = await operator.db()
    const { rows } = await db.query<ReviewRow & { status: string; email: string }>(
      `select review.id, status, email, author, rating, title, body, review.created_at
       from review join account on account.id = account_id
       where status = $1 order by review.id desc limit $2`,
      [status, MOST_SHOWN],
    )
    const shown = rows.map((row) => ({
      ...row,
      text: [row.title, row.body].filter(Boolean).join(': ').slice(0, BODY_SHOWN),
    }))
    return {
      json: rows,
      text: table(['id', 'status', 'rating', 'email', 'author', 'text'], shown),
    }
  },
}
