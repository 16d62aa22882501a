import { formatUsd } from '@coinrack/contract/wire.ts'
import { meteredCost } from '@coinrack/money/index.ts'
import type { AskedCall, Asking } from '../../platform/approval-needed.ts'

/** Something that runs until its timeout, and the call that lets it. */
interface Run {
  asked: AskedCall
  tariff: string
  /** micro-USD */
  priceHourly: bigint
  timeoutS: number
}

/** The cost of a sandbox from now until its timeout, in micro-USD: what a person is asked to approve. */
export const costUntilTimeout = ({ priceHourly, timeoutS }: Pick<Run, 'priceHourly' | 'timeoutS'>): bigint =>
  meteredCost(priceHourly, timeoutS * 1000)

export const askingToRun = ({ asked, tariff, priceHourly, timeoutS }: Run): Asking => ({
  call: asked,
  subject: `A sandbox (${tariff}, ${formatUsd(priceHourly)} USD an hour) for at most ${lengthOf(timeoutS)}`,
})

/** `90 seconds`, `12 minutes`, `5 hours`: rounded up. */
const lengthOf = (seconds: number) =>
  seconds <= 120
    ? `${seconds} seconds`
    : seconds <= 7200
      ? `${Math.ceil(seconds / 60)} minutes`
      : `${Math.ceil(seconds / 3600)} hours`

/** The part of the hold of a sandbox that is beyond what a person approved, in micro-USD. */
export const heldUnapproved = (held: bigint, approved: bigint): bigint =>
  held > approved ? held - approved : 0n
