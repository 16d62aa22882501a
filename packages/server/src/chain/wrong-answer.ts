/** An endpoint gave an answer that no correct node of its chain gives. */
export class WrongAnswerError extends Error {
  override name = 'WrongAnswerError'
}
