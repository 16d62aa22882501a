/** Full ranges that have to be answered before a larger one is tried. */
const BEFORE_GROWING = 8

/** How many blocks an endpoint is asked about at once, as it was found to answer. */
export interface RangeSize {
  /** Blocks to ask for. */
  readonly blocks: number
  /** It answered for so many blocks. */
  answered(blocks: number): void
  /**
   * It did not answer for so many blocks.
   * @returns whether fewer can be asked for
   */
  refused(blocks: number): boolean
}

/**
 * The size that an endpoint allows, found by asking: half as many blocks when it refuses or takes too long, and an eighth
 * more after some answers, as what it allows depends on how full the blocks are.
 * @param most blocks that are asked for, and where it begins
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
