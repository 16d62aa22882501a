import { type OperationName, operations } from '@coinrack/contract/index.ts'
import type { Operation } from '@coinrack/contract/operation.ts'
import type { FastifyRequest } from 'fastify'
import { namedCall } from '../dispatch/call-by-name.ts'
import { operationNamed } from '../dispatch/operation-index.ts'
import { isRun } from './mcp/task-id.ts'

/*
 * Requests that only the service that tends the machines can answer.
 */

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the body says which operations are called: the messages of an agent, or arguments for one by its name. */
    calledInBody?: 'messages' | 'arguments'
  }
}

const mayAnswer = ({ errors }: Operation, code: string) => (errors as readonly string[]).includes(code)

/** Whether it needs sandboxes, which one service has. */
export const needsSandboxes = (op: Operation) => mayAnswer(op, 'sandboxes_unavailable')

/** Whether it asks something inside a VPS, to which its host has the way. */
export const needsGuest = (op: Operation) => mayAnswer(op, 'guest_unreachable')

interface Called {
  name: OperationName
  input: Record<string, unknown>
}

/** Whether an operation that the body of a request calls needs sandboxes. */
export const callsSandboxes = (request: FastifyRequest): boolean =>
  operationsCalled(request).some(({ name }) => needsSandboxes(operations[name]))

/** The VPS inside which the body of a request asks something; undefined where it names none, and means the only one. */
export const guestsCalled = (request: FastifyRequest): (string | undefined)[] =>
  operationsCalled(request)
    .filter(({ name }) => needsGuest(operations[name]))
    .map(({ input: { service_id: id } }) => (id === undefined ? undefined : String(id)))

function operationsCalled({ routeOptions, params, body }: FastifyRequest): Called[] {
  switch (routeOptions.config.calledInBody) {
    case 'messages':
      return [parsed(body)].flat().flatMap(calledBy)
    case 'arguments':
      return [namedCall({ ...(params as object), ...(parsed(body) as object) }, false) ?? []].flat()
    default:
      return []
  }
}

/** The operation that a message to the agent endpoint calls. */
function calledBy(message: unknown): Called[] {
  const { method, params } = (message ?? {}) as {
    method?: unknown
    params?: { name?: unknown; arguments?: Record<string, unknown>; taskId?: unknown }
  }
  // Each of these reads the task that the run has in its sandbox.
  if (String(method).startsWith('tasks/') && isRun(params?.taskId)) return [{ name: 'getTask', input: {} }]
  const name = method === 'tools/call' ? operationNamed(String(params?.name)) : undefined
  if (name === undefined) return []
  const { access_token: _token, idempotency_key: _key, ...input } = params?.arguments ?? {}
  return [name === 'callOperation' ? (namedCall(input, true) ?? []) : { name, input }].flat()
}

function parsed(body: unknown): unknown {
  if (typeof body !== 'string') return undefined
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
