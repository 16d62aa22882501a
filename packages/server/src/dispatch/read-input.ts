import type { Operation } from '@coinrack/contract/operation.ts'
import type { z } from 'zod'
import { OperationError } from '../platform/errors.ts'
import { refuseNul } from './refuse-nul.ts'

/**
 * Decodes inputs of an operation, or refuses them with every field that is wrong.
 * @throws OperationError `invalid_input`; `not_found`, see `refuseNul`
 */
export function compileInput(op: Operation) {
  return (raw: Record<string, unknown>) => {
    refuseNul(op, raw)
    const result = op.input.safeDecode(raw as never)
    if (result.success) return result.data
    const details = result.error.issues.map(describeIssue)
    throw new OperationError(
      'invalid_input',
      details.map(({ path, message }) => `${path}: ${message}`).join('; '),
      {
        fields: { details },
      },
    )
  }
}

const LONGEST_MESSAGE = 300

function describeIssue(issue: z.core.$ZodIssue): { path: string; message: string } {
  const path = issue.path.join('.') || (issue.code === 'unrecognized_keys' ? issue.keys.join(', ') : '(body)')
  return { path: path.slice(0, LONGEST_MESSAGE), message: issue.message.slice(0, LONGEST_MESSAGE) }
}

/**
 * An idempotency key, as any transport hands it in.
 * @throws OperationError `invalid_input`
 */
export function readKey(given: unknown): string | undefined {
  if (given === undefined || typeof given === 'string') return given
  const message = 'Expected a text'
  throw new OperationError('invalid_input', `idempotency_key: ${message}`, {
    fields: { details: [{ path: 'idempotency_key', message }] },
  })
}
