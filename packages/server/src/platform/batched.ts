/**
 * Makes one call of many: those of the same moment are answered together.
 * @param all gets their arguments, and answers them in the same order
 * @param most how many go into one call
 */
export function batched<A, R>(
  all: (given: A[]) => Promise<readonly R[]>,
  most = 500,
): (argument: A) => Promise<R> {
  let waiting: { argument: A; resolve(answer: R): void; reject(error: unknown): void }[] = []
  const flush = () => {
    const calls = waiting
    waiting = []
    for (let from = 0; from < calls.length; from += most) void answer(calls.slice(from, from + most))
  }
  const answer = async (calls: typeof waiting) => {
    try {
      const answers = await all(calls.map(({ argument }) => argument))
      for (const [index, { resolve }] of calls.entries()) resolve(answers[index] as R)
    } catch (error) {
      for (const { reject } of calls) reject(error)
    }
  }
  return (argument) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ argument, resolve, reject }) === 1) setImmediate(flush)
    })
}
