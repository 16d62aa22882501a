/** The properties that machines are told apart by before they are given to a customer. */
export type ShapeKey = string

export interface PoolDemand {
  key: ShapeKey
  /** Memory of one, in MB. */
  memoryMb: number
  /** When one was wanted lately, in milliseconds, the oldest first. */
  wantedAt: readonly number[]
  /** Kept although none was wanted. */
  least: number
}

const WITHIN_MS = 60_000

/** How many were wanted within a minute at most: so many the next such minute should find. */
export function mostAtOnce(wantedAt: readonly number[]): number {
  let most = 0
  for (let from = 0, to = 0; to < wantedAt.length; to++) {
    while (wantedAt[to]! - wantedAt[from]! > WITHIN_MS) from++
    most = Math.max(most, to - from + 1)
  }
  return most
}

/**
 * How many of each shape are kept: as many as were wanted at once, and one at a time to whichever has the least of what
 * was wanted, as long as there are no more than `most` and all of them have room in `roomMb`.
 */
export function planPool(
  demands: readonly PoolDemand[],
  { most, roomMb }: { most: number; roomMb: number },
): Map<ShapeKey, number> {
  const shapes = demands.map((demand) => ({ ...demand, wanted: mostAtOnce(demand.wantedAt), kept: 0 }))
  const urgency = ({ kept, least, wanted }: (typeof shapes)[number]) => (kept < least ? -1 : kept / wanted)
  let left = roomMb
  for (let count = 0; count < most; count++) {
    const next = shapes
      .filter(({ kept, least, wanted, memoryMb }) => kept < Math.max(least, wanted) && memoryMb <= left)
      .reduce<(typeof shapes)[number] | undefined>(
        (first, shape) => (first && urgency(first) <= urgency(shape) ? first : shape),
        undefined,
      )
    if (!next) break
    next.kept++
    left -= next.memoryMb
  }
  return new Map(shapes.map(({ key, kept }) => [key, kept]))
}
