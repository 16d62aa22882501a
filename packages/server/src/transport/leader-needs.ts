import { operationList } from '@coinrack/contract/index.ts'
import { type Operation, toolName } from '@coinrack/contract/operation.ts'
import { isRun } from './mcp/task-id.ts'

/*
 * What only the service that tends the machines can answer.
 */

const mayAnswer = ({ errors }: Operation, code: string) => (errors as readonly string[]).includes(code)

/** Whether it needs sandboxes, which one service has. */
export const needsSandboxes = (op: Operation) => mayAnswer(op, 'sandboxes_unavailable')

/** Whether it asks something inside a VPS, to which its host has the way. */
export const needsGuest = (op: Operation) => mayAnswer(op, 'guest_unreachable')

const toolsThat = (needs: (op: Operation) => boolean) =>
  new Set(
    operationList
      .filter(([, op]) => needs(op))
      .flatMap(([name, op]) => [toolName(name), ...(op.tools ?? [])] as string[]),
  )
const sandboxTools = toolsThat(needsSandboxes)
const guestTools = toolsThat(needsGuest)

interface Message {
  method?: unknown
  params?: { name?: unknown; arguments?: { service_id?: unknown }; taskId?: unknown }
}

/** Whether a message to the agent endpoint calls a tool that needs sandboxes, or is about a task in one. */
export const callsSandboxes = (body: unknown): boolean =>
  messages(body).some(
    ({ method, params }) =>
      (method === 'tools/call' && sandboxTools.has(String(params?.name))) ||
      (String(method).startsWith('tasks/') && isRun(params?.taskId)),
  )

/** The VPS inside which a message to the agent endpoint asks something; undefined where it names none, and means the only one. */
export const guestsCalled = (body: unknown): (string | undefined)[] =>
  messages(body)
    .filter(({ method, params }) => method === 'tools/call' && guestTools.has(String(params?.name)))
    .map(({ params }) => {
      const id = params?.arguments?.service_id
      return id === undefined ? undefined : String(id)
    })

function messages(body: unknown): Message[] {
  if (typeof body !== 'string') return []
  try {
    return ([JSON.parse(body)].flat() as (Message | null)[]).filter((message) => message !== null)
  } catch {
    return []
  }
}
