import { copiedExample, isExamplePassword } from '../platform/documentation-examples.ts'
import type { ErrorOptions } from '../platform/errors.ts'

/** Refuses the password of the documentation's example, which every reader knows. */
export function refuseExamplePassword(
  password: string,
  fail: (code: 'invalid_input', message: string, options: ErrorOptions) => never,
): void {
  if (!isExamplePassword(password)) return
  const message = copiedExample('the password', 'one of your own')
  fail('invalid_input', `password: ${message}`, { fields: { details: [{ path: 'password', message }] } })
}
