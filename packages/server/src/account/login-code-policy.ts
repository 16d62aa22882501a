/*
 * The policy of login codes: who may be sent one, its form, and which codes a try is compared with. The aims: no
 * stranger shuts the owner of a mailbox out, and all strangers together have less than 1 chance in 10,000 a day. Pure;
 * the sums are in docs/decisions/0168-strangers-and-logins.md.
 */

export const CODE_LIFETIME_MS = 600_000
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/** Six digits are sent so often; after that, or after so many wrong tries in a day, codes have twelve characters. */
const SHORT_PER_HOUR = 5
const SHORT_PER_DAY = 20
export const WRONG_PER_DAY = 20
/** Twelve characters are sent no sooner than this after the code before. */
const LONG_EVERY_MS = 600_000

const TRIES = 5
/** Codes that others than the client that asked may try: the newest. */
const OPEN_TO_ALL = 3

/** The events of a mailbox in the last 24 hours. */
export interface CodeHistory {
  /** When each code was sent. */
  sent: Date[]
  wrongTries: number
}

/** Whether a code is sent now, and which; or after how many milliseconds one is. */
export function judgeRequest(
  { sent, wrongTries }: CodeHistory,
  now: Date,
): { send: 'short' | 'long' } | { waitMs: number } {
  const ages = sent.map((at) => now.getTime() - at.getTime()).filter((age) => age >= 0 && age < DAY_MS)
  const inHour = ages.filter((age) => age < HOUR_MS).length
  if (wrongTries < WRONG_PER_DAY && inHour < SHORT_PER_HOUR && ages.length < SHORT_PER_DAY)
    return { send: 'short' }
  const waitMs = LONG_EVERY_MS - Math.min(...ages)
  return waitMs > 0 ? { waitMs } : { send: 'long' }
}

/** A code that was sent, is not used and not too old. */
export interface LiveCode {
  id: bigint
  isLong: boolean
  /** Whether the client that tries now asked for it. */
  isOwn: boolean
  /** For six digits: tries of all strangers, and of the client that asked. */
  tries: number
  ownTries: number
  /** For twelve characters: tries of the client that tries now. */
  clientTries: number
}

/** A code that a try is compared with, and whose tries it counts as: see `LiveCode`. */
export interface CodeToTry<C extends LiveCode> {
  code: C
  as: 'own' | 'stranger' | 'client'
}

/**
 * Which codes a try is compared with, and counts for.
 * @param codes of the mailbox, the newest first
 */
export function codesToTry<C extends LiveCode>(codes: C[], wrongTries: number): CodeToTry<C>[] {
  const newestOwn = codes.find(({ isOwn, isLong }) => isOwn && !isLong)
  return codes.flatMap((code, index): CodeToTry<C>[] => {
    if (code.isLong) return code.clientTries < TRIES ? [{ code, as: 'client' }] : []
    if (code === newestOwn) return code.ownTries < TRIES ? [{ code, as: 'own' }] : []
    const isOpen = index < OPEN_TO_ALL && wrongTries < WRONG_PER_DAY && code.tries < TRIES
    return isOpen ? [{ code, as: 'stranger' }] : []
  })
}
