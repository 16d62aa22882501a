import type { Handler } from '../dispatch/handler.ts'
import { approvedReviews, ratings } from './review-store.ts'

const MOST_SHOWN = 100

export const listReviews: Handler<'listReviews'> = async ({ db }) => {
  const counts = await ratings(db)
  const count = counts.reduce((sum, row) => sum + row.count, 0)
  const total = counts.reduce((sum, row) => sum + row.rating * row.count, 0)
  return {
    rating: {
      average: count === 0 ? null : Math.round((total / count) * 100) / 100,
      count,
      distribution: Object.fromEntries(
        [1, 2, 3, 4, 5].map((rating) => [rating, counts.find((row) => row.rating === rating)?.count ?? 0]),
      ),
    },
    reviews: await approvedReviews(db, MOST_SHOWN),
  }
}
