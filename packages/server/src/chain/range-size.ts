/** The number of full ranges that must be answered before a larger one is tried. */
const BEFORE_GROWING = 8

/** How many blocks an endpoint is asked about at once, adapted to its answers. */
export interface RangeSize {
  /** The number of blocks to ask for. */
  readonly blocks: number
  /** Records that the endpoint answered for this many blocks. */
  answered(blocks: number): void
  /**
   * Records that the endpoint did not answer for this many blocks.
   * @returns whether it can be asked for fewer
   */
  refused(blocks: number): boolean
}

/**
 * The range size that an endpoint allows, found by trial: half as many blocks when it refuses or takes too long, and an
 * eighth more after some answers, since its limit depends on how full the blocks are.
 * @param most the largest number of blocks, and the first one tried
 */
export function rangeSize(most: number): RangeSize {
  let blocks = most
  let answers = 0
  return {
    get blocks() {
      return blocks
    },
    answered(asked) {
      if (asked < blocks || blocks === most) return
      answers++
      if (answers < BEFORE_GROWING) return
      answers = 0
      blocks = Math.min(most, blocks + Math.max(1, blocks >> 3))
    },
    refused(asked) {
      answers = 0
      if (asked <= blocks) blocks = Math.max(1, asked >> 1)
      return asked > 1
    },
  }
}
