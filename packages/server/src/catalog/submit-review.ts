import type { Handler } from '../dispatch/handler.ts'
import { insertReview } from './review-store.ts'

export const submitReview: Handler<'submitReview'> = async ({ input, caller, db, services, fail }) => {
  if (!(await services.ordering.hasPaid(db, caller.accountId))) {
    throw fail('review_needs_order', 'Reviews come from accounts with a paid order')
  }
  const id = services.newId('review')
  const inserted = await insertReview(db, {
    id,
    account_id: caller.accountId,
    author: input.author || 'Customer',
    rating: input.rating,
    title: input.title || null,
    body: input.body,
    created_at: services.clock.now(),
  })
  if (!inserted) throw fail('review_exists', 'This account has submitted its review')
  return { id, status: 'pending' }
}
