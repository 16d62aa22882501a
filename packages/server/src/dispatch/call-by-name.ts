import { type OperationName, operations } from '@coinrack/contract/index.ts'
import { type Operation, resourceInput } from '@coinrack/contract/operation.ts'
import { OperationError } from '../platform/errors.ts'
import type { Dispatch, Request } from './dispatch.ts'
import { closestTools, operationNamed } from './operation-index.ts'

/** The call that `callOperation` was asked to make. */
export interface NamedCall {
  name: OperationName
  input: Record<string, unknown>
  /** Where a tool was called with them among the arguments: a caller cannot know beside or among which they stand. */
  token?: unknown
  idempotencyKey?: unknown
}

/**
 * Reads the input of `callOperation`.
 * @returns undefined for an operation that does not exist or is `callOperation` itself, and for an input that is none
 */
export function namedCall(input: Record<string, unknown>, asTool: boolean): NamedCall | undefined {
  const { name: called, arguments: given = {}, ...others } = input
  const name = operationNamed(String(called))
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
  if (name === undefined || name === 'callOperation' || !isObject || Object.keys(others).length > 0) return
  if (!asTool) return { name, input: given as Record<string, unknown> }
  const { access_token: token, idempotency_key: idempotencyKey, ...rest } = given as Record<string, unknown>
  return { name, input: rest, token, idempotencyKey }
}

/**
 * Lets each call of `callOperation` be a call of the operation that it names, from the token to the answer: whatever holds
 * for that operation holds for the call. Where it names none, `callOperation` itself answers what is wrong.
 */
export const callingByName =
  (dispatch: Dispatch): Dispatch =>
  async (name, request) => {
    const call = name === 'callOperation' ? callOf(request) : undefined
    if (!call) return dispatch(name, request)
    const op: Operation = operations[call.name]
    const answer = await dispatch(call.name, {
      ...request,
      token: request.token ?? (call.token === undefined ? undefined : String(call.token)),
      idempotencyKey: request.idempotencyKey ?? call.idempotencyKey ?? undefined,
      resourceId: op.resource && call.input[resourceInput(op.resource)],
      input: () => call.input,
    })
    return { ...answer, answered: { name: call.name, input: call.input } }
  }

function callOf(request: Request): NamedCall | undefined {
  try {
    return namedCall(request.input(), request.asTool)
  } catch (error) {
    // What cannot be read at all is refused where every input is.
    if (error instanceof OperationError) return undefined
    throw error
  }
}

/** A name that no operation has, with the closest that there are. */
export function unknownOperation(name: string): OperationError {
  const shown = name.slice(0, 100)
  const closest = closestTools(shown)
  const like = closest.length > 0 ? `. Close to it: ${closest.join(', ')}` : ''
  return new OperationError('unknown_operation', `There is no operation ${shown}${like}`, {
    fields: { closest },
    nextSteps: [
      {
        tool: 'find_operations',
        why: 'Find the operation that does what you want',
        arguments: { query: (closest.length > 0 ? closest.join(' ') : shown).replaceAll('_', ' ') },
      },
    ],
  })
}
