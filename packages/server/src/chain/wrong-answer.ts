/** An endpoint answered what no node of its chain answers. */
export class WrongAnswerError extends Error {
  override name = 'WrongAnswerError'
}
