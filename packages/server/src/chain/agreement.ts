import type { Block } from './chain-port.ts'

/** Endpoints that are further apart than this are not looking at the same chain at the same time. */
const FAR_BLOCKS = 64
const FAR_SECONDS = 120

/** Whether most say something, and two do where there are two. */
export const isAgreed = (saying: number, denying: number, nodes: number): boolean =>
  saying >= Math.min(2, nodes) && saying > denying

/** The height that enough of these endpoints have reached: of two the lower, of more the one that most have. */
export function agreedHeight(heights: number[]): number {
  const highestFirst = heights.toSorted((one, other) => other - one)
  return highestFirst[Math.floor(heights.length / 2)]!
}

/**
 * Why the newest block of an endpoint is not to be relied on beside those of the others. Where there are more than two,
 * one that is ahead of all others is alone with that; of two, the one that is behind is taken to be frozen.
 * @param all of every endpoint that answered
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
