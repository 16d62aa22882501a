import { decideReview } from '../catalog/review-store.ts'
import { type Command, RefusedError } from './command.ts'

/** Writes a decision down. An earlier one is replaced. */
const deciding =
  (status: 'approved' | 'rejected'): Command['run'] =>
  async (operator, [id]) => {
    const db = await operator.db()
    const isKnown = await decideReview(db, id!, status, operator.clock.now())
    if (!isKnown) throw new RefusedError(`There is no review ${id}`)
    return { json: { id, status }, text: `${id} is ${status}` }
  }

export const reviewApprove: Command = {
  name: 'review approve',
  arguments: '<id>',
  summary: 'Shows a review to everybody',
  takes: 1,
  run: deciding('approved'),
}

export const reviewReject: Command = {
  name: 'review reject',
  arguments: '<id>',
  summary: 'Keeps a review from being shown, also one that was',
  takes: 1,
  run: deciding('rejected'),
}
