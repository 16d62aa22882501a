import type { Queryable, Transaction } from '../database/transaction.ts'

export interface ReviewRow {
  id: string
  author: string
  rating: number
  title: string | null
  body: string
  created_at: Date
}

/** Newest first. */
export async function approvedReviews(db: Queryable, limit: number): Promise<ReviewRow[]> {
  const { rows } = await db.query<ReviewRow>(
    `select id, author, rating, title, body, created_at from review
     where status = 'approved' order by id desc limit $1`,
    [limit],
  )
  return rows
}

/** How many approved reviews gave each rating. */
export async function ratings(db: Queryable): Promise<{ rating: number; count: number }[]> {
  const { rows } = await db.query<{ rating: number; count: number }>(
    `select rating, count(*)::int as count from review where status = 'approved' group by rating`,
  )
  return rows
}

/** @returns false when the account has a review already */
export async function insertReview(
  tx: Transaction,
  row: ReviewRow & { account_id: string },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into review (id, account_id, author, rating, title, body, created_at)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict (account_id) do nothing`,
    [row.id, row.account_id, row.author, row.rating, row.title, row.body, row.created_at],
  )
  return rowCount === 1
}

/**
 * Shows a review, or hides it; an earlier decision is replaced.
 * @returns false when there is none
 */
export async function decideReview(
  db: Queryable,
  id: string,
  status: 'approved' | 'rejected',
  at: Date,
): Promise<boolean> {
  const { rowCount } = await db.query('update review set status = $2, decided_at = $3 where id = $1', [
    id,
    status,
    at,
  ])
  return rowCount === 1
}
