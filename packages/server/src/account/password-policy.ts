/** Wrong passwords in an hour, for one account: of one client, and of all clients that never logged in to it. */
export const WRONG_PER_HOUR = 10

/**
 * The verdict on a login by password.
 * @param wrong passwords in the last hour: `own` of the client, `strangers` of all clients that were not known
 * @param isKnown whether this client has logged in to the account before
 * @returns `blocked` also for the right password, so that more guesses tell nothing
 */
export function judgePassword({
  good,
  wrong,
  isKnown,
}: {
  good: boolean
  wrong: { own: number; strangers: number }
  isKnown: boolean
}): 'good' | 'wrong' | 'blocked' {
  if (wrong.own >= WRONG_PER_HOUR) return 'blocked'
  if (!isKnown && wrong.strangers >= WRONG_PER_HOUR) return 'blocked'
  return good ? 'good' : 'wrong'
}
