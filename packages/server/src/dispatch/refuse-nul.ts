import { type Operation, pathInputs } from '@coinrack/contract/operation.ts'
import { OperationError } from '../platform/errors.ts'

const NUL = '\u0000'

/**
 * Refuses the character NUL in every text of an input, in names of fields too: PostgreSQL keeps none
 * (https://www.postgresql.org/docs/current/datatype-character.html), and no input has a use for it but those that the
 * operation names as `anyText`.
 * @throws OperationError `invalid_input`; `not_found` for an identifier in the path, as for any that nothing has
 */
export function refuseNul(op: Operation, input: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(input)) {
    if (op.anyText?.includes(name) || !(name.includes(NUL) || hasNul(value))) continue
    if (pathInputs(op).includes(name)) throw new OperationError('not_found', `Nothing has this ${name}`)
    const path = name.replaceAll(NUL, '?').slice(0, 100)
    const message = 'The character NUL is not allowed'
    throw new OperationError('invalid_input', `${path}: ${message}`, {
      fields: { details: [{ path, message }] },
    })
  }
}

/** Without recursion, since a caller decides how deep a value is. */
function hasNul(value: unknown): boolean {
  const left = [value]
  while (left.length > 0) {
    const part = left.pop()
    if (typeof part === 'string' && part.includes(NUL)) return true
    if (typeof part !== 'object' || part === null) continue
    for (const [name, inside] of Object.entries(part)) {
      if (name.includes(NUL)) return true
      left.push(inside)
    }
  }
  return false
}
