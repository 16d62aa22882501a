import { RefusedError } from './command.ts'

/** The option by which machines may be stopped that cannot move while they run, after a notice to their owners. */
export const noticeOption = { 'stop-after': { type: 'string' } } as const

const MOST_HOURS = 24 * 90

/** @returns hours; null when the option is left out, and no machine is stopped */
export function readNotice({ 'stop-after': written }: Record<string, string>): number | null {
  if (written === undefined) return null
  const hours = Number(written)
  if (!Number.isInteger(hours) || hours < 0 || hours > MOST_HOURS)
    throw new RefusedError(`--stop-after takes hours, a whole number from 0 to ${MOST_HOURS}`)
  return hours
}

/** Tells the operator what becomes of machines that cannot move while they run. */
export const noticeText = (hours: number | null): string =>
  hours === null
    ? 'What cannot move while it runs stays: --stop-after HOURS tells its owner and stops it for the move after that time'
    : `What cannot move while it runs is stopped for it ${hours} hours after its owner was told`
