import { OperationError } from './errors.ts'

/** So much at a time of something that there is little of; the rest waits in turn, and not for long. */
export interface Slots {
  /**
   * Waits for a slot.
   * @returns what gives it back: call it once
   * @throws OperationError `overloaded` when none came free in time
   */
  take(): Promise<() => void>
  /** Does the work in a slot. @throws OperationError `overloaded` */
  run<T>(work: () => Promise<T>): Promise<T>
}

/** @param waitMs how long one waits at most */
export function createSlots({ most, waitMs }: { most: number; waitMs: number }): Slots {
  let taken = 0
  const waiting = new Set<() => void>()

  const giveBack = () => {
    const [next] = waiting
    if (!next) {
      taken--
      return
    }
    // It goes from hand to hand, so that none who comes later is before those who wait.
    waiting.delete(next)
    next()
  }

  const take: Slots['take'] = async () => {
    if (taken < most) {
      taken++
      return giveBack
    }
    await new Promise<void>((resolve, reject) => {
      const mine = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.delete(mine)
        reject(
          new OperationError('overloaded', 'The service has too much to do at the moment', {
            retryAfter: waitMs / 1000,
          }),
        )
      }, waitMs)
      waiting.add(mine)
    })
    return giveBack
  }
  return {
    take,
    async run(work) {
      const done = await take()
      try {
        return await work()
      } finally {
        done()
      }
    },
  }
}
