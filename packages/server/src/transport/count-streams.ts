import { OperationError } from '../platform/errors.ts'

/**
 * Counts the open streams of each subject, in this process.
 * @returns what takes the place of one more stream, and returns what gives it back
 */
export function countStreams(
  most: number,
  { of, retryAfter }: { of: string; retryAfter: number },
): (subject: string) => () => void {
  const open = new Map<string, number>()
  return (subject) => {
    const streams = open.get(subject) ?? 0
    if (streams >= most)
      throw new OperationError('rate_limited', `${most} streams of this ${of} are open`, { retryAfter })
    open.set(subject, streams + 1)
    return () => {
      const left = (open.get(subject) ?? 1) - 1
      if (left > 0) open.set(subject, left)
      else open.delete(subject)
    }
  }
}
