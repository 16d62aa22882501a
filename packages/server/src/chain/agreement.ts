import type { Block } from './chain-port.ts'

/** Endpoints further apart than this do not show the same chain at the same time. */
const FAR_BLOCKS = 64
const FAR_SECONDS = 120

/** Whether more endpoints affirm something than deny it, and at least two of them do, unless there is only one. */
export const isAgreed = (saying: number, denying: number, nodes: number): boolean =>
  saying >= Math.min(2, nodes) && saying > denying

/** The height that enough of these endpoints have reached: the lower of two, or of more the one that most have reached. */
export function agreedHeight(heights: number[]): number {
  const highestFirst = heights.toSorted((one, other) => other - one)
  return highestFirst[Math.floor(heights.length / 2)]!
}

/**
 * Why the newest block of an endpoint cannot be relied on, compared with those of all endpoints. Among more than two, an
 * endpoint far ahead of all the rest is not believed; of two, the one behind counts as frozen.
 * @param all the newest blocks of all endpoints that answered
 */
export function lagOf(newest: Block, all: Block[]): string | undefined {
  const highestFirst = all.toSorted((one, other) => other.number - one.number)
  const reference = highestFirst[all.length > 2 ? 1 : 0]!
  const blocks = reference.number - newest.number
  const seconds = reference.timestamp - newest.timestamp
  if (blocks > FAR_BLOCKS) return `it is ${blocks} blocks behind`
  if (blocks > 0 && seconds > FAR_SECONDS)
    return `its newest block is ${seconds} s older than that of another`
  return blocks < -FAR_BLOCKS ? `it shows ${-blocks} blocks that no other endpoint has` : undefined
}
