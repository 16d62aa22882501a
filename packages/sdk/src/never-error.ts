/** The event that was waited for can no longer happen. */
export class NeverError extends Error {
  override readonly name = 'NeverError'
}
