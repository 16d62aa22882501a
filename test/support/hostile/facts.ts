/** What a hostile program may know of the service that it is turned against. */
export interface Facts {
  /** The sandbox that it runs in. */
  ownSandbox: string
  /** A sandbox of its owner that runs, and one that is paused, which others pay for. */
  owners: { running: string; paused: string; token: string }
  /** Another customer's, whose texts and identifiers it has got hold of. */
  victim: { sandbox: string; tokenId: string; accountId: string }
}

/** Draws what a program does. */
export interface Draw {
  /** A whole number from 0 to below. */
  below(limit: number): number
  of<T>(choices: readonly T[]): T
}

export function drawFrom(numbers: Generator<number>): Draw {
  const below = (limit: number) => Math.floor(numbers.next().value! * limit)
  return { below, of: (choices) => choices[below(choices.length)]! }
}
